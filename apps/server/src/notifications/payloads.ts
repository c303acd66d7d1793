import type { NotificationType } from '@crux/contract'
import type { DeliveryEvent } from './delivery-store.ts'
import { toUtc } from './message.ts'
import { breakHosts, escapeCard, escapeMarkdown, escapeSlack, truncate } from './message-text.ts'

export type Content = {
  deliveryId: string
  event: DeliveryEvent
  /** When it happened, ISO 8601. */
  at: string
  team: { id: string; slug: string; name: string }
  /** Not escaped. */
  text: string
  /** The page of Crux. */
  url: string
  details: Record<string, unknown>
}

const title = 'Crux'
const color = 1_555_130
const colorText = `#${color.toString(16).padStart(6, '0')}`

/** The limits of the services. Texts are far below them, whatever people typed; escaping at most doubles them. */
const max = { discord: 4_096, slack: 3_000, card: 4_000, attachment: 4_000 } as const

/** The JSON that a service gets. */
export function toPayload(type: Exclude<NotificationType, 'email'>, content: Content): object {
  switch (type) {
    case 'discord':
      return toDiscord(content)
    case 'slack':
      return toSlack(content)
    case 'teams':
      return toTeams(content)
    case 'rocket':
      return toAttachment({ ...content, text: breakHosts(content.text) })
    case 'mattermost':
      return toAttachment(content)
    case 'webhook':
      return toGeneric(content)
  }
}

/** https://docs.discord.com/developers/resources/webhook#execute-webhook */
const toDiscord = ({ text, at, url }: Content) => ({
  embeds: [{ title, url, description: truncate(escapeMarkdown(text), max.discord), color, timestamp: at }],
  allowed_mentions: { parse: [] },
})

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
const toSlack = ({ text, at, url }: Content) => {
  const escaped = truncate(escapeSlack(text), max.slack)
  return {
    // Shown where blocks are not, such as in notifications of the desktop.
    text: escaped,
    blocks: [
      { type: 'context', elements: [{ type: 'plain_text', text: escaped, emoji: false }] },
      { type: 'context', elements: [{ type: 'mrkdwn', text: `${toUtc(at)} · <${url}|Open in Crux>` }] },
    ],
    unfurl_links: false,
    unfurl_media: false,
  }
}

/** The same for a connector and for a workflow: https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using */
const toTeams = ({ text, at, url }: Content) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.3',
        body: [
          { type: 'TextBlock', text: title, size: 'Large', weight: 'Bolder' },
          {
            type: 'RichTextBlock',
            inlines: [{ type: 'TextRun', text: truncate(escapeCard(text), max.card), size: 'Medium' }],
          },
          { type: 'TextBlock', text: toUtc(at), size: 'Small', weight: 'Lighter' },
        ],
        actions: [{ type: 'Action.OpenUrl', title: 'Open in Crux', url }],
      },
    },
  ],
})

/** https://docs.rocket.chat/docs/integrations, https://developers.mattermost.com/integrate/reference/message-attachments */
const toAttachment = ({ text, url }: Content) => {
  const escaped = truncate(escapeMarkdown(text), max.attachment)
  return { attachments: [{ title, title_link: url, fallback: escaped, color: colorText, text: escaped }] }
}

/** Ours: docs/notifications.md. Names in it are not escaped. */
const toGeneric = ({ deliveryId, event, at, team, text, url, details }: Content) => ({
  id: deliveryId,
  event,
  createdAt: at,
  team,
  text,
  url,
  data: details,
})
