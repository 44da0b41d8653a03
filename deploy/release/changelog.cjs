// A changeset's line in CHANGELOG.md is its text alone. Changesets would put the commit before it.
'use strict';

module.exports = {
  getReleaseLine: async ({ summary }) => `- ${summary.trim().replaceAll('\n', '\n  ')}`,
  getDependencyReleaseLine: async () => '',
};
