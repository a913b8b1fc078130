// The contracts of pins, overrides, published files and ledger on each store.
import { LASTING_STORES } from './lasting-stores.ts';
import { ledgerStoreContract } from './ledger-store.ts';
import { overrideStoreContract } from './override-store.ts';
import { pinStoreContract } from './pin-store.ts';
import { publishedRecordContract } from './published-record.ts';

for (const [name, open] of LASTING_STORES) {
  pinStoreContract(name, open);
  overrideStoreContract(name, open);
  publishedRecordContract(name, open);
  ledgerStoreContract(name, open);
}
