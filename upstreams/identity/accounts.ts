// The sample users and the check of a password; passwords are stored as salted scrypt hashes.
import { scrypt, timingSafeEqual } from 'node:crypto';

export interface Account {
  /** The user name, and the `sub` of tokens. */
  readonly id: string;
  readonly name: string;
}

interface StoredAccount extends Account {
  readonly salt: string;
  readonly hash: string;
}

const ACCOUNTS: readonly StoredAccount[] = [
  {
    id: 'ana',
    name: 'Ana Sample',
    salt: 'daNPQsQ0ZlGfmZ_-P_MFnw',
    hash: 'yfQWWCWkNYE97asLLRm5nkbgmrZyMnRpbg9tSf8lRxs',
  },
  {
    id: 'ben',
    name: 'Ben Sample',
    salt: 'Fa98V_EoO53SEW6ALaWWMg',
    hash: 'N_M8wezEes7IEenkzGesz-htAV07eT_WSBTBw30kTy8',
  },
];

/** Compared if the account does not exist, so that a wrong name takes as long as a wrong password. */
const DUMMY_HASH = {
  salt: '9pcqI-_HgC_sOXc3DWR1Dw',
  hash: 'rlNYLI-Own1j6Hd-TeH-rRKjTdi1MxC6IvSvfoMxcn4',
};

export function accountOf(id: string): Account | undefined {
  return ACCOUNTS.find((account) => account.id === id);
}

/** Undefined if the name or the password is wrong; the caller cannot tell which. */
export async function authenticate(id: string, password: string): Promise<Account | undefined> {
  const account = ACCOUNTS.find((each) => each.id === id);
  const { salt, hash } = account ?? DUMMY_HASH;
  const matches = timingSafeEqual(await deriveKey(password, salt), Buffer.from(hash, 'base64url'));
  return matches ? account : undefined;
}

function deriveKey(password: string, salt: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, Buffer.from(salt, 'base64url'), 32, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
