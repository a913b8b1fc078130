// The effective configuration in its two forms: YAML for people, one document for each file, and JSON for machines.
// Pure text; `sundial config show` prints either, the admin listener answers with the latter.
import { Document, isNode } from 'yaml';
import { type EffectiveConfig, type EffectiveDocument, pointerTo } from './effective.ts';

/** `origin`: behind every value, where it comes from. */
export function effectiveYaml(config: EffectiveConfig, { origin }: { readonly origin: boolean }): string {
  const documents = config.documents.map((each) => `---\n# ${each.file}\n${yamlOf(each, origin)}`);
  return `# revision ${config.revision}\n${documents.join('')}`;
}

function yamlOf({ values, origins }: EffectiveDocument, origin: boolean): string {
  const document = new Document(values);
  if (origin) {
    for (const { path, from } of origins) {
      const node = document.getIn(path, true);
      if (isNode(node)) node.comment = ` ${from}`;
    }
  }
  return document.toString({ lineWidth: 0 });
}

/** Origins by JSON pointer into the values. */
export function effectiveJson({ revision, documents }: EffectiveConfig): Readonly<Record<string, unknown>> {
  return {
    revision,
    documents: documents.map(({ file, values, origins }) => ({
      file,
      values,
      origins: Object.fromEntries(origins.map(({ path, from }) => [pointerTo(path), from])),
    })),
  };
}
