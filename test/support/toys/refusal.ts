// A sample refusal: a request with the header `X-Toy-Refusal` gets 403, `toy_refused`.
import type { Toy } from './toy.ts';

export const REFUSAL: Toy = {
  edits: [
    {
      file: 'gateway/exchange/directive.ts',
      after: "  | { readonly reason: 'websockets_exhausted' }\n",
      add: "  | { readonly reason: 'toy_refused' }\n",
    },
    {
      file: 'gateway/exchange/pipeline.ts',
      after: '  if (overridden !== undefined) return refuse(overridden);\n',
      add: "  if (view.headers.get('x-toy-refusal') !== undefined) return refuse({ reason: 'toy_refused' });\n",
    },
    {
      file: 'gateway/exchange/answers/request-refusal.ts',
      after: "      return refuse(501, 'This request method is not supported.');\n",
      add: "    case 'toy_refused':\n      return refuse(403, 'This request asks to be refused.');\n",
    },
  ],
  newFiles: {},
};
