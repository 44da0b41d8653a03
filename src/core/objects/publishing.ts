import { z } from 'zod';
import { user } from './accounts.js';
import { flag, id, int, listOf, text, time } from './base.js';
import { repository } from './repositories.js';
import { attachment } from './tracker.js';
import { fields } from '../schema.js';

export const downloadCount = z.looseObject({ tar_gz: int, zip: int });

/** `Release` of the forge's API. */
export const release = z.looseObject({
  archive_download_count: downloadCount.nullish(),
  assets: listOf(attachment).optional(),
  author: user.nullish(),
  ...fields('body html_url name tag_name tarball_url target_commitish upload_url url zipball_url', text),
  created_at: time,
  ...fields('draft hide_archive_links prerelease', flag),
  id,
  published_at: time,
});
export type Release = z.output<typeof release>;

/** `Package` of the forge's API. */
export const packageVersion = z.looseObject({
  created_at: time,
  creator: user.nullish(),
  ...fields('html_url name type version', text),
  id,
  owner: user.nullish(),
  repository: repository.nullish(),
});

/** recordings, packages: one file of a package version. */
export const packageFile = z.looseObject({
  id,
  ...fields('md5 name sha1 sha256 sha512', text),
  size: int,
  Size: int,
});
