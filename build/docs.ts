// `npm run docs`: writes the generated pages of docs/.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { glossaryPage } from './reference/glossary.ts';
import { REFERENCE, referencePages } from './reference/pages.ts';

const folder = join(import.meta.dirname, '..', REFERENCE);
await mkdir(folder, { recursive: true });
for (const { file, text } of [...referencePages(), glossaryPage()]) await writeFile(join(folder, file), text);
