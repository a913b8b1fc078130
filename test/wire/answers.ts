// Splits what the client received into responses, as a strict client would, and notes everything malformed.
import { type Field, readFieldLines, valuesOf } from './field-lines.ts';
import { readChunks } from './recorded-request.ts';

export interface Answer {
  /** 0 for octets that are no response. */
  readonly status: number;
  readonly fields: readonly Field[];
  readonly body: string;
  /** The whole response has arrived. If it ends with the connection: the connection has closed. */
  readonly complete: boolean;
  /** The close of the connection ends it, so nothing shows whether it is complete. */
  readonly endsWithConnection: boolean;
  readonly dirt: readonly string[];
}

const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/** `methods`: of the requests, in order. The last is used for all others. Octets after a 101 are its body. */
export function readAnswers(text: string, methods: readonly string[], closed: boolean): Answer[] {
  const answers: Answer[] = [];
  let rest = text;
  for (let finals = 0; rest !== ''; ) {
    const method = methods[Math.min(finals, methods.length - 1)] ?? 'GET';
    const { answer, used } = readAnswer(rest, method, closed);
    answers.push(answer);
    if (answer.status >= 200) finals += 1;
    if (!answer.complete || answer.status === 101) break;
    rest = rest.slice(used);
  }
  return answers;
}

function readAnswer(text: string, method: string, closed: boolean): { answer: Answer; used: number } {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, Math.max(end, 0)).split('\r\n');
  const status = Number(STATUS_LINE.exec(first)?.[1] ?? 0);
  const none = { fields: [], body: text, complete: false, endsWithConnection: false };
  if (end < 0) return { answer: { ...none, status: 0, dirt: [] }, used: text.length };
  if (status === 0) {
    const dirt = [`no status line: ${JSON.stringify(first.slice(0, 40))}`];
    return { answer: { ...none, status, dirt }, used: text.length };
  }
  const { fields, dirt } = readFieldLines(lines);
  const made = (body: string, length: number | undefined, more: Partial<Answer> = {}) => ({
    answer: {
      status,
      fields,
      body,
      complete: length !== undefined,
      endsWithConnection: false,
      dirt: [...dirt, ...answerDirt(status, fields)],
      ...more,
    },
    used: end + 4 + (length ?? 0),
  });
  const rest = text.slice(end + 4);
  if (status === 101) return made(rest, rest.length);
  if (status < 200 || method === 'HEAD' || status === 204 || status === 304) return made('', 0);
  if (valuesOf(fields, 'transfer-encoding').length > 0) {
    const framed = readChunks(rest);
    return made(framed.body, framed.used, { dirt: [...dirt, ...framed.dirt] });
  }
  const [length] = valuesOf(fields, 'content-length');
  if (length === undefined) return made(rest, closed ? rest.length : undefined, { endsWithConnection: true });
  const body = rest.slice(0, Number(length));
  return made(body, body.length === Number(length) ? body.length : undefined);
}

function answerDirt(status: number, fields: readonly Field[]): string[] {
  const bodiless = status < 200 || status === 204;
  const framing = ['content-length', 'transfer-encoding'].filter((name) => valuesOf(fields, name).length > 0);
  return bodiless && framing.length > 0 ? [`${framing.join(', ')} on a ${status}`] : [];
}

export const finalAnswers = (answers: readonly Answer[]): Answer[] =>
  answers.filter(({ status }) => status >= 200 || status <= 101).filter(({ status }) => status !== 100);
