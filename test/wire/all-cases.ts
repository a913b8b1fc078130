// All cases of the suite, by kind. New tables are added here.
import { bodies } from './requests/bodies.ts';
import { chunked } from './requests/chunks.ts';
import { contentLength } from './requests/content-length.ts';
import { expectations } from './requests/expect.ts';
import { fieldSyntax } from './requests/field-syntax.ts';
import { hopByHop } from './requests/hop-by-hop.ts';
import { host } from './requests/host.ts';
import { http2 } from './requests/http2.ts';
import { methods } from './requests/methods.ts';
import { path } from './requests/path.ts';
import { pipelining } from './requests/pipelining.ts';
import { repeatedFields } from './requests/repeated-fields.ts';
import { sizes } from './requests/sizes.ts';
import { target } from './requests/target.ts';
import { trailers } from './requests/trailers.ts';
import { transferEncoding } from './requests/transfer-encoding.ts';
import { truncated } from './requests/truncated.ts';
import { upgrades } from './requests/upgrades.ts';
import { versions } from './requests/versions.ts';
import { chunkedAnswers } from './responses/chunks.ts';
import { answerFields } from './responses/fields.ts';
import { heads } from './responses/heads.ts';
import { lengths } from './responses/lengths.ts';
import { statuses } from './responses/statuses.ts';
import { upstreamAnswers } from './websockets/answers.ts';
import { handshakes } from './websockets/handshakes.ts';
import type { RequestCase, ResponseCase, WebsocketCase } from './wire-case.ts';

export interface Cases {
  readonly requests: readonly RequestCase[];
  readonly responses: readonly ResponseCase[];
  readonly websockets: readonly WebsocketCase[];
}

export const ALL_CASES: Cases = {
  requests: [
    ...contentLength,
    ...transferEncoding,
    ...chunked,
    ...trailers,
    ...host,
    ...target,
    ...path,
    ...fieldSyntax,
    ...hopByHop,
    ...repeatedFields,
    ...methods,
    ...versions,
    ...expectations,
    ...sizes,
    ...pipelining,
    ...bodies,
    ...upgrades,
    ...truncated,
    ...http2,
  ],
  responses: [...lengths, ...chunkedAnswers, ...heads, ...statuses, ...answerFields],
  websockets: [...handshakes, ...upstreamAnswers],
};

/** The cases whose id or rule is in `only`. All cases if it is empty. */
export function chosen(cases: Cases, only: readonly string[]): Cases {
  const wanted = ({ id, rules }: { readonly id: string; readonly rules: readonly string[] }): boolean =>
    only.length === 0 ||
    only.some((each) => each === id || rules.includes(each) || id.startsWith(`${each}-`));
  return {
    requests: cases.requests.filter(wanted),
    responses: cases.responses.filter(wanted),
    websockets: cases.websockets.filter(wanted),
  };
}
