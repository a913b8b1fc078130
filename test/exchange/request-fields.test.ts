// The fields of a request, read one by one from the record that Node makes of them.
import { expect, it } from 'vitest';
import { RecordFields } from '../../gateway/exchange/request-view.ts';

const fields = new RecordFields({ accept: 'text/html', 'set-cookie': ['a=1', 'b=2'], expect: undefined });

it('is one value for each name, repeats joined', () => {
  expect(['accept', 'set-cookie', 'expect', 'host'].map((name) => fields.get(name))).toEqual([
    'text/html',
    'a=1, b=2',
    undefined,
    undefined,
  ]);
});

it('visits each line that was kept apart by itself, so that it goes on as it came', () => {
  const seen: string[] = [];
  fields.each((name, value) => seen.push(`${name}: ${value}`));
  expect(seen).toEqual(['accept: text/html', 'set-cookie: a=1', 'set-cookie: b=2']);
});
