// The page of domain terms, from the sentences that schemas and the help of commands use.
import { GLOSSARY } from '../../gateway/policy/glossary.ts';
import { GENERATED, type Page, tableOf } from './markdown.ts';

export function glossaryPage(): Page {
  const table = tableOf(['term', 'meaning'], Object.entries(GLOSSARY));
  const text = [`${GENERATED}\n# Glossary`, 'Each term of Sundial in one sentence.', table].join('\n\n');
  return { file: '../concepts/glossary.md', text: `${text}\n` };
}
