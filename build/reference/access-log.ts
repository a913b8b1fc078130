// The page of access log fields, from the list that the logger uses.
import { ACCESS_FIELDS } from '../../gateway/plan/grammar/logs-section.ts';
import { code, type Page, pageOf, tableOf } from './markdown.ts';

export function accessLogPages(): readonly Page[] {
  const rows = Object.entries(ACCESS_FIELDS).map(([name, meaning]) => [code(name), meaning]);
  return [
    pageOf(
      'access-log.md',
      'Access log',
      [
        'Find each field of an access line.',
        '',
        'An access line is one JSON object for one request. It begins with `level`, `log` (`access`) and `time`. A field without a value is',
        'absent. A failed request has one line, of level `error`. [Logs](../operate/logs.md) says how to choose fields.',
      ],
      [tableOf(['field', 'meaning'], rows)],
    ),
  ];
}
