// Parts of an OpenAPI description besides the lifecycle fields: its version, operations, servers, security schemes.
// Asked by description.ts.
import { isMap, isSeq, type YAMLMap } from 'yaml';
import type { Problem } from '../problems.ts';
import {
  type DescriptionText,
  type Mark,
  mapOf,
  markOf,
  pairsOf,
  scalarText,
  textOf,
} from './description-text.ts';

export type OpenApiVersion = '3.0' | '3.1' | '3.2';

const METHODS = /^(get|put|post|delete|options|head|patch|trace|query)$/;

export function readVersion(
  source: DescriptionText,
  root: YAMLMap,
  problems: Problem[],
): OpenApiVersion | undefined {
  const node = source.childOf(root, 'openapi');
  const [, version] = /^(3\.[012])(?:\.\d+)?(?:-.*)?$/.exec(scalarText(node) ?? '') ?? [];
  if (version === '3.0' || version === '3.1' || version === '3.2') return version;
  const swagger = source.childOf(root, 'swagger');
  const at = node ?? swagger;
  problems.push(
    source.problem(at === undefined ? { from: 0, to: 1 } : markOf(at), {
      rule: 'openapi',
      message:
        swagger === undefined || node !== undefined
          ? 'not a description this gateway can read: "openapi" is none of 3.0, 3.1 and 3.2'
          : 'a Swagger 2.0 description, and 3.0, 3.1 and 3.2 can be read: convert it',
    }),
  );
  return undefined;
}

export interface OperationNode {
  readonly path: string;
  readonly method: string;
  readonly mark: Mark;
  readonly node: YAMLMap;
}

/** 3.2 lets methods without a field of their own stand under `additionalOperations`. */
export function* operationNodes(
  source: DescriptionText,
  root: YAMLMap | undefined,
): Generator<OperationNode> {
  for (const { key: path, value } of pairsOf(mapOf(source.childOf(root, 'paths')))) {
    if (!path.startsWith('/')) continue;
    const item = mapOf(source.resolve(value));
    for (const { key, mark, value: written } of pairsOf(item)) {
      const node = source.resolve(written);
      if (METHODS.test(key) && isMap(node)) yield { path, method: key.toUpperCase(), mark, node };
    }
    const more = mapOf(source.childOf(item, 'additionalOperations'));
    for (const { key, mark, value: written } of pairsOf(more)) {
      const node = source.resolve(written);
      if (isMap(node)) yield { path, method: key, mark, node };
    }
  }
}

export function readServers(source: DescriptionText, root: YAMLMap | undefined): readonly string[] {
  const servers = source.childOf(root, 'servers');
  if (!isSeq(servers)) return [];
  return servers.items.flatMap((item) => {
    if (!isMap(item)) return [];
    const url = textOf(source.childOf(item, 'url'));
    const variables = mapOf(source.childOf(item, 'variables'));
    const filled = url?.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
      const variable = mapOf(source.childOf(variables, name));
      return textOf(source.childOf(variable, 'default')) ?? whole;
    });
    return filled === undefined ? [] : [filled];
  });
}

export function readSchemes(source: DescriptionText, root: YAMLMap | undefined): readonly string[] {
  const schemes = mapOf(source.childOf(mapOf(source.childOf(root, 'components')), 'securitySchemes'));
  return pairsOf(schemes).flatMap(({ value }) => {
    const scheme = mapOf(source.resolve(value));
    const type = textOf(source.childOf(scheme, 'type'));
    if (type === undefined) return [];
    const kind = type === 'http' ? textOf(source.childOf(scheme, 'scheme')) : undefined;
    return [kind === undefined ? type : `${type} ${kind.toLowerCase()}`];
  });
}
