import { defineFunction } from './define-function.js';
import { markdownOf, sizeOf, takeWhatFits } from './markdown-text.js';

/** The texts of a list as a list of Markdown; what others wrote in them shows as it is and does nothing. */
export const mdList = defineFunction({
  name: 'md_list',
  summary:
    'A list of Markdown, a line for each item: a text, a number, a time, a list of these, or a map with a title and an address (`{text, url}`, or an issue, pull request or release as the forge tells it), which becomes a link. Texts are escaped, and cut after 200 characters; after 12,288 bytes it says how many more there are. Empty for an empty list.',
  params: [{ name: 'items', type: 'list' }],
  result: 'string',
  markdown: true,
  example: ['md_list(["**v1.4** is out"])', '- \\*\\*v1.4\\*\\* is out'],
  charge: ([items]) => sizeOf(items),
  run: ([items]) => {
    const { lines, rest } = takeWhatFits(items, (item) => `- ${markdownOf(item, 'md_list')}`);
    return [...lines, ...(rest === 0 ? [] : [`- and ${rest} more`])].join('\n');
  },
});
