// Reads fields of a description: texts, flags, dates, support, changelog, breaking changes.
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { controlIn } from '../../policy/contract.ts';
import { parsePageUrl } from '../../policy/lifecycle/page-url.ts';
import { isDate } from '../../policy/versioning/label.ts';
import type { Finding } from '../read/document.ts';
import {
  type DescriptionText,
  type Located,
  type LocatedDay,
  type Mark,
  markOf,
  textOf,
} from './description-text.ts';

export interface MarkedFinding {
  readonly mark: Mark;
  readonly finding: Finding;
}

export interface ApiNotes {
  readonly level: string | undefined;
  readonly until: string | undefined;
  readonly changelog: string | undefined;
}

const LONGEST_TEXT = 300;
const NOT_A_SENTENCE = `not a text of 1 to ${LONGEST_TEXT} characters`;

/** Reports unusable fields and treats them as absent. */
export function createFieldReader({ at, resolve }: DescriptionText, report: (found: MarkedFinding) => void) {
  function text(map: Node | undefined, key: string): Located<string> | undefined {
    const node = at(map, key);
    const value = textOf(node);
    return node === undefined || value === undefined ? undefined : { value, mark: markOf(node) };
  }

  function flag(map: Node | undefined, key: string): Located<boolean> | undefined {
    const node = at(map, key);
    if (!isScalar(node) || typeof node.value !== 'boolean') return undefined;
    return { value: node.value, mark: markOf(node) };
  }

  /** OAS-2: `YYYY-MM-DD`. `null` means: no such date. */
  function date(map: Node | undefined, key: string): LocatedDay {
    const node = at(map, key);
    if (!isScalar(node)) return undefined;
    const { value } = node;
    const mark = markOf(node);
    if (value === null || (typeof value === 'string' && isDate(value))) return { value, mark };
    const message = `${key} is not a calendar date (YYYY-MM-DD)`;
    report({ mark, finding: { rule: 'description-dates', message } });
    return undefined;
  }

  function day(map: Node | undefined, key: string): Located<string> | undefined {
    const stated = date(map, key);
    return typeof stated?.value === 'string' ? { value: stated.value, mark: stated.mark } : undefined;
  }

  /** A value that is published unchanged. `null` counts as absent. */
  function publishable<T>(
    node: Node | undefined,
    parse: (node: Node) => T | undefined,
    message: string,
  ): T | undefined {
    if (node === undefined || (isScalar(node) && node.value === null)) return undefined;
    const value = parse(node);
    const finding = { rule: 'description-usable', message: `${message}, so it is not published` };
    if (value === undefined) report({ mark: markOf(node), finding });
    return value;
  }

  return {
    text,
    flag,
    date,
    day,
    notes: (lifecycle: Node | undefined): ApiNotes => {
      const support = publishable(at(lifecycle, 'support'), mapAt, 'support is not a map of level and until');
      return {
        level: publishable(at(support, 'level'), sentence, `support.level is ${NOT_A_SENTENCE}`),
        until: day(support, 'until')?.value,
        changelog: publishable(at(lifecycle, 'changelog'), page, 'changelog is not an absolute https URL'),
      };
    },
    breakingChanges: (lifecycle: Node | undefined): readonly string[] => {
      const list = publishable(at(lifecycle, 'breaking-changes'), listAt, 'breaking-changes is not a list');
      return (list?.items ?? []).flatMap((item) => {
        const node = resolve(item as Node);
        return publishable(node, sentence, `a breaking change is ${NOT_A_SENTENCE}`) ?? [];
      });
    },
  };
}

const mapAt = (node: Node) => (isMap(node) ? node : undefined);
const listAt = (node: Node) => (isSeq(node) ? node : undefined);

/** On one line, as a page shows it. */
function sentence(node: Node): string | undefined {
  const text = textOf(node)?.replace(/\s+/g, ' ').trim() ?? '';
  return text !== '' && text.length <= LONGEST_TEXT && controlIn(text) === undefined ? text : undefined;
}

function page(node: Node): string | undefined {
  const text = textOf(node);
  return text === undefined ? undefined : parsePageUrl(text);
}
