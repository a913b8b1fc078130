// Reads the version, operations, servers and security schemes of an OpenAPI description.
import { isMap, isSeq, type YAMLMap } from 'yaml';
import type { Problem } from '../problems.ts';
import { type DescriptionText, type Mark, markOf, scalarText, textOf } from './description-text.ts';

export type OpenApiVersion = '3.0' | '3.1' | '3.2';

const METHODS = /^(get|put|post|delete|options|head|patch|trace|query)$/;

export function readVersion(
  source: DescriptionText,
  root: YAMLMap,
  problems: Problem[],
): OpenApiVersion | undefined {
  const node = source.at(root, 'openapi');
  const [, version] = /^(3\.[012])(?:\.\d+)?(?:-.*)?$/.exec(scalarText(node) ?? '') ?? [];
  if (version === '3.0' || version === '3.1' || version === '3.2') return version;
  const swagger = source.at(root, 'swagger');
  const at = node ?? swagger;
  problems.push(
    source.problem(at === undefined ? { from: 0, to: 1 } : markOf(at), {
      rule: 'openapi',
      message:
        swagger === undefined || node !== undefined
          ? 'not a readable description: "openapi" must be 3.0, 3.1 or 3.2'
          : 'a Swagger 2.0 description: convert it to OpenAPI 3.0, 3.1 or 3.2',
    }),
  );
  return undefined;
}

export interface OperationNode {
  /** As under `paths`. */
  readonly path: string;
  /** In upper case, except under `additionalOperations`. */
  readonly method: string;
  readonly mark: Mark;
  readonly node: YAMLMap;
}

/** OpenAPI 3.2 has other methods under `additionalOperations`. */
export function operationNodes(
  { at, pairsOf }: DescriptionText,
  root: YAMLMap | undefined,
): readonly OperationNode[] {
  return pairsOf(at(root, 'paths')).flatMap(({ key: path, value: item }) => {
    if (!path.startsWith('/')) return [];
    const usual = pairsOf(item).filter(({ key }) => METHODS.test(key));
    const named = usual.map((pair) => ({ ...pair, key: pair.key.toUpperCase() }));
    return [...named, ...pairsOf(at(item, 'additionalOperations'))].flatMap(
      ({ key: method, mark, value: node }) => (isMap(node) ? [{ path, method, mark, node }] : []),
    );
  });
}

export function readServers({ at }: DescriptionText, root: YAMLMap | undefined): readonly string[] {
  const servers = at(root, 'servers');
  if (!isSeq(servers)) return [];
  return servers.items.flatMap((server) => {
    const url = textOf(at(server, 'url'));
    const filled = url?.replace(
      /\{([^{}]*)\}/g,
      (whole, name: string) => textOf(at(server, 'variables', name, 'default')) ?? whole,
    );
    return filled ?? [];
  });
}

export function readSchemes({ at, pairsOf }: DescriptionText, root: YAMLMap | undefined): readonly string[] {
  return pairsOf(at(root, 'components', 'securitySchemes')).flatMap(({ value }) => {
    const type = textOf(at(value, 'type'));
    const kind = type === 'http' ? textOf(at(value, 'scheme')) : undefined;
    return (kind === undefined ? type : `${type} ${kind.toLowerCase()}`) ?? [];
  });
}
