// The grammar of `body_notice`.
import { z } from 'zod';

export const bodyNoticeSection = z.boolean().meta({
  description:
    'Whether JSON objects answered while deprecated get a member `_deprecation`; an operation without this key has what its version says; default false.',
});
