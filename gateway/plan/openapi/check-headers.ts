// OAS-3: where a description documents the lifecycle fields, their schemas fit what is sent: text, and no RFC 3339 date.
// Clients are generated from these schemas, and a wrong one makes every deprecated answer a decoding error.
import type { YAMLMap } from 'yaml';
import { mapOf, markOf, pairsOf, textOf } from './description-text.ts';
import { type Merging, policyText } from './merging.ts';

/** What each field looks like, as a hint. */
const SENT: Readonly<Record<string, string>> = {
  deprecation: 'schema: { type: string, pattern: "^@-?[0-9]+$" }, such as @1768435200 (RFC 9745)',
  sunset: 'schema: { type: string }, such as Fri, 15 Jan 2027 00:00:00 GMT (RFC 8594)',
};

export function checkHeaders(merging: Merging): void {
  const { description, atDescription } = merging;
  const { source } = description;
  const form = policyText(merging, ['deprecation_header']) ?? 'rfc9745';
  for (const headers of headerMaps(merging)) {
    for (const { key, value } of pairsOf(headers)) {
      const hint = SENT[key.toLowerCase()];
      if (hint === undefined || (key.toLowerCase() === 'deprecation' && form !== 'rfc9745')) continue;
      const schema = mapOf(source.childOf(mapOf(source.resolve(value)), 'schema'));
      const type = source.childOf(schema, 'type');
      const format = source.childOf(schema, 'format');
      const isText = (textOf(type) ?? 'string') === 'string';
      const wrong = isText ? format : type;
      const word = textOf(wrong);
      if (wrong === undefined || word === undefined) continue;
      const message = `${key} is sent as text, and is described as ${isText ? `the format ${word}` : word}`;
      atDescription(markOf(wrong), { rule: 'description-headers', message, hint });
    }
  }
}

function* headerMaps({ description }: Merging): Generator<YAMLMap | undefined> {
  const { source, operations } = description;
  const components = mapOf(source.childOf(source.root, 'components'));
  yield mapOf(source.childOf(components, 'headers'));
  const answers = [components, ...operations.map(({ node }) => node)].flatMap((map) =>
    pairsOf(mapOf(source.childOf(map, 'responses'))),
  );
  for (const { value } of answers) yield mapOf(source.childOf(mapOf(source.resolve(value)), 'headers'));
}
