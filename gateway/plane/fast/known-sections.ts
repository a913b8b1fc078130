// A cache of parsed field sections by their octets: most clients repeat the same section in each request.
import { createRecentMap } from '../../policy/recent-map.ts';

const MAX_SECTIONS = 2_000;
const MAX_CHARACTERS = 1_000_000;
/** If less than a quarter of this many lookups are hits, the next `SKIPPED_LOOKUPS` heads skip the lookup. */
const SAMPLED_LOOKUPS = 256;
const SKIPPED_LOOKUPS = 8_192;
const END = Buffer.from('\r\n\r\n', 'latin1');

export class KnownSections<Section> {
  readonly #sections = createRecentMap<Section>(MAX_SECTIONS, MAX_CHARACTERS);
  #lookups = 0;
  #hits = 0;
  #lookupsToSkip = 0;

  /** The section that begins at `from`. Undefined if it is incomplete, or if this head skips the lookup. */
  textOf(bytes: Buffer, from: number): string | undefined {
    if (this.#lookupsToSkip > 0) {
      this.#lookupsToSkip -= 1;
      return undefined;
    }
    const end = bytes.indexOf(END, from);
    return end < 0 ? undefined : bytes.toString('latin1', from, end + END.length);
  }

  get(text: string): Section | undefined {
    const section = this.#sections.get(text);
    this.#lookups += 1;
    if (section !== undefined) this.#hits += 1;
    if (this.#lookups === SAMPLED_LOOKUPS) {
      if (this.#hits < SAMPLED_LOOKUPS / 4) this.#lookupsToSkip = SKIPPED_LOOKUPS;
      this.#lookups = 0;
      this.#hits = 0;
    }
    return section;
  }

  set(text: string, section: Section): void {
    this.#sections.set(text, section);
  }
}
