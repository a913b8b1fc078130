// The grammar of `body_notice`.
import { z } from 'zod';

export const bodyNoticeSection = z.boolean().meta({
  description:
    'Whether deprecated JSON responses get a member `_deprecation`; operations inherit it; default false.',
});
