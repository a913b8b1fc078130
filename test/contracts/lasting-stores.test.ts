// The contracts of pins, overrides, idempotency keys and published files on each store.
import { idempotencyStoreContract } from './idempotency-store.ts';
import { LASTING_STORES } from './lasting-stores.ts';
import { overrideStoreContract } from './override-store.ts';
import { pinStoreContract } from './pin-store.ts';
import { publishedRecordContract } from './published-record.ts';

for (const [name, open] of LASTING_STORES) {
  pinStoreContract(name, open);
  overrideStoreContract(name, open);
  idempotencyStoreContract(name, open);
  publishedRecordContract(name, open);
}
