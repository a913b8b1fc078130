// A cache of parsed field sections by their octets: most clients repeat the same section in each request.
import { createRecentMap } from '../../policy/recent-map.ts';

const MAX_SECTIONS = 2_000;
const MAX_CHARACTERS = 1_000_000;
/** If less than a quarter of `SAMPLE` lookups are hits, the next `UNKNOWN_FOR` heads skip the lookup. */
const SAMPLE = 256;
const UNKNOWN_FOR = 8_192;
const END = Buffer.from('\r\n\r\n', 'latin1');

export class KnownSections<Section> {
  readonly #sections = createRecentMap<Section>(MAX_SECTIONS, MAX_CHARACTERS);
  #looked = 0;
  #found = 0;
  #unsolicited = 0;

  /** The section that begins at `from`. Undefined: incomplete, or not looked up. */
  textOf(bytes: Buffer, from: number): string | undefined {
    if (this.#unsolicited > 0) {
      this.#unsolicited -= 1;
      return undefined;
    }
    const end = bytes.indexOf(END, from);
    return end < 0 ? undefined : bytes.toString('latin1', from, end + END.length);
  }

  get(text: string): Section | undefined {
    const section = this.#sections.get(text);
    this.#looked += 1;
    if (section !== undefined) this.#found += 1;
    if (this.#looked === SAMPLE) {
      if (this.#found < SAMPLE / 4) this.#unsolicited = UNKNOWN_FOR;
      this.#looked = 0;
      this.#found = 0;
    }
    return section;
  }

  keep(text: string, section: Section): void {
    this.#sections.set(text, section);
  }
}
