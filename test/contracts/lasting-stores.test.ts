// Runs the contracts of all lasting stores, embedded and on Redis.
import { announcedStoreContract } from './announced-store.ts';
import { idempotencyStoreContract } from './idempotency-store.ts';
import { keyStoreContract } from './key-store.ts';
import { LASTING_STORES } from './lasting-stores.ts';
import { ledgerPagesContract } from './ledger-pages.ts';
import { ledgerStoreContract } from './ledger-store.ts';
import { overrideStoreContract } from './override-store.ts';
import { pinStoreContract } from './pin-store.ts';
import { publishedRecordContract } from './published-record.ts';

for (const [name, open] of LASTING_STORES) {
  pinStoreContract(name, open);
  keyStoreContract(name, open);
  overrideStoreContract(name, open);
  idempotencyStoreContract(name, open);
  publishedRecordContract(name, open);
  ledgerStoreContract(name, open);
  ledgerPagesContract(name, open);
  announcedStoreContract(name, open);
}
