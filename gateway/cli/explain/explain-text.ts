// The text and JSON forms of an explanation.
import type { HeaderLines } from '../../exchange/answer-headers.ts';
import { reasonPhrase } from '../../exchange/answers/error-body.ts';
import type { ForwardOrder } from '../../exchange/directive.ts';
import type { ExchangeAnswer } from '../../exchange/exchange.ts';
import { instantText } from '../../exchange/publish/lifecycle-entry.ts';
import { dateInWords } from '../../policy/notation.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { JudgedRequest } from '../judge.ts';
import type { OutcomeChange } from './explain-next.ts';
import type { DecisionRow } from './explain-rows.ts';

export interface Explanation {
  readonly judged: JudgedRequest;
  readonly decisions: readonly DecisionRow[];
  readonly next: readonly OutcomeChange[];
}

/** Such as `2027-04-15T14:00:00Z`. */
const WIDEST_DATE = 20;
/** Headers that differ with every request. */
const PER_REQUEST: ReadonlySet<string> = new Set(['x-request-id']);

export function explanationText({ judged, decisions, next }: Explanation): string {
  const { view, facts, ending } = judged;
  const heading = `${view.method} ${urlOf(view)}, ${instantText(facts.now)}`;
  const outcome =
    ending.kind === 'answered'
      ? [`answer    ${statusText(ending.answer.status)}`]
      : ['answer    that of the upstream, with these lines'];
  const headers = ending.kind === 'answered' ? ending.answer.headers : ending.headers;
  const lines = linesOf(headers).map(([name, value]) => `  ${name}: ${value}`);
  const content = ending.kind === 'answered' ? ending.answer.body : noticeText(ending.order);
  const body = content === '' || view.method === 'HEAD' ? [] : ['', `  ${content}`];
  const later = next.map((change, index) => `${index === 0 ? 'next' : ''}`.padEnd(10) + changeText(change));
  const parts = [[heading], columns(decisions), [...outcome, ...lines, ...body], later];
  return `${parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`;
}

/** With the port in its Host header. */
function urlOf({ scheme, host, headers, path, search }: JudgedRequest['view']): string {
  return `${scheme}://${headers.get('host') ?? host}${path}${search}`;
}

export function explanationJson({ judged, decisions, next }: Explanation): string {
  const { view, facts, ending } = judged;
  const answer =
    ending.kind === 'answered'
      ? {
          kind: 'answered',
          reason: ending.reason,
          status: ending.answer.status,
          headers: Object.fromEntries(linesOf(ending.answer.headers)),
          body: bodyOf(ending.answer),
        }
      : {
          kind: 'forwarded',
          upstream: ending.order.upstream.name,
          target: ending.order.target,
          headers: Object.fromEntries(linesOf(ending.headers)),
          body: ending.order.notice && JSON.parse(`{${ending.order.notice.member}}`),
        };
  const whole = {
    request: { method: view.method, url: urlOf(view) },
    at: instantText(facts.now),
    decisions,
    answer,
    next: next.map(({ at, ...change }) => ({ at: instantText(at), ...change })),
  };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
}

function noticeText({ notice }: ForwardOrder): string {
  return notice === undefined ? '' : `{${notice.member}, …}`;
}

/** JSON as a value. A published page is text. */
function bodyOf({ headers, body }: ExchangeAnswer): unknown {
  const type = headers.get('content-type');
  return typeof type === 'string' && /[/+]json\b/.test(type) && body !== '' ? JSON.parse(body) : body;
}

function linesOf(headers: HeaderLines): readonly (readonly [name: string, value: string])[] {
  return Object.entries(headers.record()).flatMap(([name, value]) => {
    if (value === undefined || PER_REQUEST.has(name)) return [];
    return [[name, typeof value === 'string' ? value : value.join(', ')] as const];
  });
}

function columns(decisions: readonly DecisionRow[]): readonly string[] {
  const rows = decisions.map(({ step, value, detail, assumed, origin }) => {
    const details = [detail, assumed === undefined ? '' : `(assumed: ${assumed})`].filter(
      (each) => each !== '',
    );
    return [
      step,
      value,
      details.join(' '),
      origin === undefined ? '' : `${origin.file}:${origin.line}`,
    ] as const;
  });
  const width = (index: 1 | 2) => Math.max(0, ...rows.map((row) => row[index].length));
  const [values, details] = [width(1), width(2)];
  return rows.map(([step, value, detail, where]) =>
    `${step.padEnd(10)}${value.padEnd(values)}  ${detail.padEnd(details)}  ${where}`.trimEnd(),
  );
}

function changeText({
  at,
  version,
  operation,
  stage,
  status,
  reason,
  location,
  signals,
}: OutcomeChange): string {
  const who =
    version === undefined
      ? 'no version answers'
      : version === UNVERSIONED
        ? (stage ?? 'nothing answers')
        : `${operation === undefined ? '' : `${operation} of `}${version} ${stage ?? ''}`.trimEnd();
  const what = status === undefined ? 'forwarded' : `${statusText(status)}, ${reason}`;
  const where = location === undefined ? '' : ` to ${location}`;
  return `${dateInWords(at).padEnd(WIDEST_DATE)}  ${who}: ${[what + where, ...signals].join(', ')}`;
}

function statusText(status: number): string {
  return `${status} ${reasonPhrase(status)}`;
}
