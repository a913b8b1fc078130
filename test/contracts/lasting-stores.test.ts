// The contracts of pins, API keys, overrides and published files on each store.
import { keyStoreContract } from './key-store.ts';
import { LASTING_STORES } from './lasting-stores.ts';
import { overrideStoreContract } from './override-store.ts';
import { pinStoreContract } from './pin-store.ts';
import { publishedRecordContract } from './published-record.ts';

for (const [name, open] of LASTING_STORES) {
  pinStoreContract(name, open);
  keyStoreContract(name, open);
  overrideStoreContract(name, open);
  publishedRecordContract(name, open);
}
