// Adapts the store to oidc-provider; codes and refresh tokens are stored by their SHA-256, so the file contains no usable one.
import { createHash } from 'node:crypto';
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import { errors } from './library.ts';
import type { FoundRow, Place, Store } from './store.ts';

/** Models whose id the client presents. */
const PRESENTED: ReadonlySet<string> = new Set(['AuthorizationCode', 'RefreshToken']);

/** `now` is epoch milliseconds. */
export function createAdapter(store: Store, now: () => number): AdapterFactory {
  return (model) => adapterOf(model, store, () => Math.floor(now() / 1000));
}

function adapterOf(model: string, store: Store, seconds: () => number): Adapter {
  const place = (id: string): Place => ({ model, id: PRESENTED.has(model) ? digest(id) : id });
  return {
    async upsert(id, payload, expiresIn) {
      const { jti, ...rest } = payload;
      store.put({
        ...place(id),
        payload: JSON.stringify(PRESENTED.has(model) ? rest : { jti, ...rest }),
        grantId: model === 'Grant' ? undefined : payload.grantId,
        uid: payload.uid,
        expires: expiresIn === undefined ? undefined : seconds() + expiresIn,
      });
      // Each sign-in creates an interaction, often enough to keep the file small.
      if (model === 'Interaction') store.sweep(seconds());
    },
    async find(id) {
      return read(store.find(place(id)), PRESENTED.has(model) ? { jti: id } : {});
    },
    async findByUid(uid) {
      return read(store.findByUid(model, uid), {});
    },
    async findByUserCode() {
      return undefined; // there is no device grant
    },
    async consume(id) {
      if (store.consume(place(id), seconds())) return;
      // OAU-4, OAU-7: a concurrent request has used it since we read it. That is a second use, so the whole grant is revoked.
      const grantId = store.grantOf(place(id));
      if (grantId !== undefined) store.revoke(grantId);
      throw new errors.InvalidGrant('used twice at the same moment');
    },
    async destroy(id) {
      store.remove(place(id));
    },
    async revokeByGrantId(grantId) {
      store.revoke(grantId);
    },
  };
}

function read(row: FoundRow | undefined, more: AdapterPayload): AdapterPayload | undefined {
  if (row === undefined) return undefined;
  const payload: AdapterPayload = JSON.parse(row.payload);
  return { ...payload, ...more, ...(row.consumed === undefined ? {} : { consumed: row.consumed }) };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
