/** Text on one line without control and hidden characters, of at most `max` characters. */
export function toPlainText(text: string, max: number): string {
  const line = text
    .slice(0, 4 * max)
    .toWellFormed()
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
  return truncate(line, max)
}

/** Counts UTF-16 units, as the services do, and cuts no character in half. */
export const truncate = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`

/** Breaks up what a service would turn into a mention or a link. Readers do not see it. */
const invisible = '\u200b'
const breakMentionsAndLinks = (text: string): string =>
  text
    .replace(/@/g, `@${invisible}`)
    .replace(/:\/\//g, `:${invisible}//`)
    .replace(/www(?=\.)/gi, `$&${invisible}`)

/** For Rocket.Chat, which links every host with a known ending. Numbers of versions stay as they are. */
export const breakHosts = (text: string): string => text.replace(/\.(?=\p{L}{2})/gu, `.${invisible}`)

/**
 * For Discord, Rocket.Chat and Mattermost: nothing in the text is formatted, mentions anyone or links anywhere. Each
 * character of Markdown gets a backslash.
 */
export const escapeMarkdown = (text: string): string =>
  breakMentionsAndLinks(text.replace(/[\\*_~`|>#<[\]()!]/g, '\\$&'))

/** For Slack, which reads `<...>` as mentions and links: https://docs.slack.dev/messaging/formatting-message-text */
export const escapeSlack = (text: string): string =>
  breakMentionsAndLinks(text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'))

/** For a text run of an adaptive card, which is no Markdown, but in which `{{DATE(...)}}` is a function. */
export const escapeCard = (text: string): string =>
  breakMentionsAndLinks(text.replace(/([{$])(?=\{)/g, `$1${invisible}`))
