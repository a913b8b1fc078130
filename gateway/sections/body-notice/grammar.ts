// The `body_notice` key of a version and of an operation.
import { z } from 'zod';

export const bodyNoticeSection = z.boolean().meta({
  description:
    'Whether JSON objects answered while deprecated get a member `_deprecation`; an operation without this key has what its version says; default false.',
});
