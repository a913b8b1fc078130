// A parameter that a media type writes more than once: every value, where the parser keeps the first alone.
// Used by media-type.ts for what carries a version, so that two values can disagree (VER-3).
import { parse } from 'content-type';

/** The values of the parameter `name`, in lower case, of the media type `text`, in order. Never throws. */
export function everyValue(text: string, name: string): readonly string[] {
  return parametersOf(text).flatMap((parameter) => parse(parameter).parameters[name] ?? []);
}

/** The parameters as written, each with its semicolon: one inside a quoted string divides nothing (NEG-1). */
export function parametersOf(text: string): readonly string[] {
  const found: string[] = [];
  let start = -1;
  // A quoted string begins right behind the first `=` of a parameter and nowhere else.
  let mayQuote = false;
  let hasValue = true;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"' && mayQuote) at = endOfQuote(text, at);
    else if (character === ';') {
      if (start >= 0) found.push(text.slice(start, at));
      start = at;
      hasValue = false;
    }
    if (character === ' ' || character === '\t') continue;
    mayQuote = character === '=' && !hasValue;
    hasValue ||= mayQuote;
  }
  return start < 0 ? found : [...found, text.slice(start)];
}

/** Of the closing quote, or the end of a text that has none. */
function endOfQuote(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
