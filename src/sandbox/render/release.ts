import type { Asset, Release } from '../world.js';
import { repoApiUrl, repoWebUrl } from './repository.js';
import { shaped } from './shape.js';
import { renderUser } from './user.js';
import type { View } from './view.js';
import { shownTime } from './view.js';

export function renderRelease(view: View, release: Release): object {
  const repo = view.world.repo(release.repoId);
  const tag = release.tagName.split('/').map(encodeURIComponent).join('/');
  const url = repoApiUrl(view, repo, `/releases/${release.id}`);
  return shaped(view, 'release', {
    id: release.id,
    tag_name: release.tagName,
    target_commitish: release.target,
    name: release.title,
    body: release.note,
    url,
    html_url: repoWebUrl(view, repo, `/releases/tag/${tag}`),
    tarball_url: repoWebUrl(view, repo, `/archive/${tag}.tar.gz`),
    zipball_url: repoWebUrl(view, repo, `/archive/${tag}.zip`),
    hide_archive_links: release.hidesArchives,
    upload_url: `${url}/assets`,
    draft: release.isDraft,
    prerelease: release.isPrerelease,
    created_at: shownTime(view, release.createdAt),
    published_at: shownTime(view, release.createdAt),
    author: renderUser(view, view.world.owner(release.authorId), { asOther: true }),
    assets: release.assets.map((asset) => renderAsset(view, asset)),
    archive_download_count: { zip: 0, tar_gz: 0 },
  });
}

export function renderAsset(view: View, asset: Asset): object {
  return {
    id: asset.id,
    name: asset.name,
    size: asset.size,
    download_count: asset.downloadCount,
    created_at: shownTime(view, asset.createdAt),
    uuid: asset.uuid,
    browser_download_url: `${view.baseUrl}/attachments/${asset.uuid}`,
  };
}
