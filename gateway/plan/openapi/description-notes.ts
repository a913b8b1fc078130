// What `x-lifecycle` tells callers without anything following from it: support, changelog, breaking changes.
// Asked by description.ts; what cannot be published is found, and counts as absent.
import { isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import { controlIn } from '../../policy/contract.ts';
import { parsePageUrl } from '../../policy/lifecycle/section.ts';
import { type DescriptionText, type Mark, mapOf, markOf, textOf } from './description-text.ts';

export interface ApiNotes {
  readonly level: string | undefined;
  /** `YYYY-MM-DD`. */
  readonly until: string | undefined;
  /** Absolute URL. */
  readonly changelog: string | undefined;
}

export interface NotesReader {
  readonly ofApi: (lifecycle: YAMLMap | undefined) => ApiNotes;
  /** In the order written. */
  readonly breakingChanges: (lifecycle: YAMLMap | undefined) => readonly string[];
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

export function createNotesReader({ childOf, resolve, day, unusable }: Reading): NotesReader {
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
    ofApi: (lifecycle) => {
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
    breakingChanges: (lifecycle) => {
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
