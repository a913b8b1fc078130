// Parts of an OpenAPI description besides the dates: version, operations, servers, security schemes, support,
// changelog and breaking changes.
import { isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import { controlIn } from '../../policy/contract.ts';
import { parsePageUrl } from '../../policy/lifecycle/page-url.ts';
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

export interface ApiNotes {
  readonly level: string | undefined;
  /** `YYYY-MM-DD`. */
  readonly until: string | undefined;
  /** Absolute URL. */
  readonly changelog: string | undefined;
}

interface Reading {
  readonly childOf: DescriptionText['childOf'];
  readonly resolve: DescriptionText['resolve'];
  /** A day of the calendar. */
  readonly day: (map: YAMLMap | undefined, key: string) => { readonly value: string } | undefined;
  /** For the rule `description-usable`. */
  readonly unusable: (mark: Mark, message: string) => void;
}

const LONGEST_TEXT = 300;

/** Reads what callers are told and the gateway does not act on; what cannot be published is reported and left out. */
export function createNotesReader({ childOf, resolve, day, unusable }: Reading) {
  /** Undefined for `null`. */
  function written(map: YAMLMap | undefined, key: string): Node | undefined {
    const node = childOf(map, key);
    return isScalar(node) && node.value === null ? undefined : node;
  }

  function read<T>(
    node: Node | undefined,
    parse: (node: Node) => T | undefined,
    message: string,
  ): T | undefined {
    const value = node && parse(node);
    if (node !== undefined && value === undefined) unusable(markOf(node), `${message}, and is not published`);
    return value;
  }

  return {
    ofApi: (lifecycle: YAMLMap | undefined): ApiNotes => {
      const node = written(lifecycle, 'support');
      if (node !== undefined && !isMap(node))
        unusable(markOf(node), 'support is not a map of level and until, and is not published');
      const support = mapOf(node);
      return {
        level: read(written(support, 'level'), sentence, `support.level is ${NO_SENTENCE}`),
        until: day(support, 'until')?.value,
        changelog: read(written(lifecycle, 'changelog'), page, 'changelog is not an absolute https URL'),
      };
    },
    /** In the order written. */
    breakingChanges: (lifecycle: YAMLMap | undefined): readonly string[] => {
      const node = written(lifecycle, 'breaking-changes');
      const list = read(node, (each) => (isSeq(each) ? each : undefined), 'breaking-changes is not a list');
      return (list?.items ?? []).flatMap(
        (item) => read(resolve(item as Node), sentence, `a breaking change is ${NO_SENTENCE}`) ?? [],
      );
    },
  };
}

const NO_SENTENCE = `no text of 1 to ${LONGEST_TEXT} characters`;

/** Folded into one line, as a page shows it. */
function sentence(node: Node): string | undefined {
  const text = textOf(node)?.replace(/\s+/g, ' ').trim() ?? '';
  return text !== '' && text.length <= LONGEST_TEXT && controlIn(text) === undefined ? text : undefined;
}

function page(node: Node): string | undefined {
  const text = textOf(node);
  return text === undefined ? undefined : parsePageUrl(text);
}
