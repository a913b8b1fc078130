// Whether a description lets a POST carry a form, in which some services look for a `_method`.
// Evidence for the rule method-override.
import type { Description } from './description.ts';
import { mapOf, pairsOf } from './description-text.ts';

const FORM = /^(?:\*\/\*|application\/(?:\*|x-www-form-urlencoded)|multipart\/(?:\*|form-data))\s*(?:;|$)/i;

export function takesForms({ source, operations }: Description): boolean {
  return operations.some(({ method, node }) => {
    const body = mapOf(source.resolve(source.childOf(node, 'requestBody')));
    return (
      method === 'POST' && pairsOf(mapOf(source.childOf(body, 'content'))).some(({ key }) => FORM.test(key))
    );
  });
}
