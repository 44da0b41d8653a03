import { z } from 'zod';
import { user } from './accounts.js';
import { flag, id, int, listOf, text, time } from './base.js';
import { repository } from './repositories.js';
import { attachment } from './tracker.js';

export const downloadCount = z.looseObject({ tar_gz: int, zip: int });

/** `Release` of the forge's API. */
export const release = z.looseObject({
  archive_download_count: downloadCount.nullish(),
  assets: listOf(attachment).optional(),
  author: user.nullish(),
  body: text,
  created_at: time,
  draft: flag,
  hide_archive_links: flag,
  html_url: text,
  id,
  name: text,
  prerelease: flag,
  published_at: time,
  tag_name: text,
  tarball_url: text,
  target_commitish: text,
  upload_url: text,
  url: text,
  zipball_url: text,
});
export type Release = z.output<typeof release>;

/** `Package` of the forge's API. */
export const packageVersion = z.looseObject({
  created_at: time,
  creator: user.nullish(),
  html_url: text,
  id,
  name: text,
  owner: user.nullish(),
  repository: repository.nullish(),
  type: text,
  version: text,
});

/** recordings, packages: one file of a package version. */
export const packageFile = z.looseObject({
  id,
  md5: text,
  name: text,
  sha1: text,
  sha256: text,
  sha512: text,
  size: int,
  Size: int,
});
