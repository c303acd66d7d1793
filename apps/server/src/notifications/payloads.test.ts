import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { TeamEvent } from '../team-events/index.ts'
import { testMessage, toMessage } from './message.ts'
import { type Content, toPayload } from './payloads.ts'

/** Each service's limits and shapes, as published. Unknown fields are refused. */
const link = z.url({ protocol: /^https$/ })

/** https://docs.discord.com/developers/resources/message#embed-object-embed-limits and .../webhook#execute-webhook */
const Discord = z
  .strictObject({
    embeds: z
      .array(
        z.strictObject({
          title: z.string().min(1).max(256),
          url: link,
          description: z.string().min(1).max(4_096),
          color: z.int().min(0).max(0xffffff),
          timestamp: z.iso.datetime(),
        }),
      )
      .min(1)
      .max(10),
    allowed_mentions: z.strictObject({ parse: z.tuple([]) }),
  })
  .refine(
    ({ embeds }) => embeds.reduce((sum, { title, description }) => sum + title.length + description.length, 0) <= 6_000,
  )

/** https://docs.slack.dev/reference/block-kit/blocks/context-block and .../composition-objects/text-object */
const slackText = z.string().min(1).max(3_000)
const Slack = z.strictObject({
  text: z.string().min(1).max(40_000),
  blocks: z
    .array(
      z.strictObject({
        type: z.literal('context'),
        elements: z
          .array(
            z.discriminatedUnion('type', [
              z.strictObject({ type: z.literal('plain_text'), text: slackText, emoji: z.boolean().optional() }),
              z.strictObject({ type: z.literal('mrkdwn'), text: slackText, verbatim: z.boolean().optional() }),
            ]),
          )
          .min(1)
          .max(10),
      }),
    )
    .max(50),
  unfurl_links: z.literal(false),
  unfurl_media: z.literal(false),
})

/** http://adaptivecards.io/schemas/1.3.0/adaptive-card.json; messages of at most 28 kB: https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using */
const size = z.enum(['Default', 'Small', 'Medium', 'Large', 'ExtraLarge'])
const weight = z.enum(['Lighter', 'Default', 'Bolder'])
const Teams = z
  .strictObject({
    type: z.literal('message'),
    attachments: z.tuple([
      z.strictObject({
        contentType: z.literal('application/vnd.microsoft.card.adaptive'),
        contentUrl: z.null(),
        content: z.strictObject({
          $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
          type: z.literal('AdaptiveCard'),
          version: z.literal('1.3'),
          body: z.tuple([
            z.strictObject({ type: z.literal('TextBlock'), text: z.literal('Crux'), size, weight }),
            z.strictObject({
              type: z.literal('RichTextBlock'),
              inlines: z.tuple([z.strictObject({ type: z.literal('TextRun'), text: z.string().min(1), size })]),
            }),
            z.strictObject({
              type: z.literal('TextBlock'),
              text: z.string().regex(/^[\d -]+:\d\d UTC$/),
              size,
              weight,
            }),
          ]),
          actions: z.tuple([z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: link })]),
        }),
      }),
    ]),
  })
  .refine((payload) => Buffer.byteLength(JSON.stringify(payload)) < 28_000)

/** https://docs.rocket.chat/docs/integrations and https://developers.mattermost.com/integrate/reference/message-attachments (16,383 characters a post) */
const Attachment = z.strictObject({
  attachments: z.tuple([
    z.strictObject({
      title: z.string(),
      title_link: link,
      fallback: z.string().max(16_383),
      color: z.string().regex(/^#[0-9a-f]{6}$/),
      text: z.string().min(1).max(16_383),
    }),
  ]),
})
const schemas = { discord: Discord, slack: Slack, teams: Teams, rocket: Attachment, mattermost: Attachment } as const
const chats = Object.keys(schemas) as (keyof typeof schemas)[]

const hostile = [
  '@everyone @here <!channel> <@U012345> <#C01|x> @all ~town-square',
  '**bold** _it_ ~~no~~ `code` ||spoiler|| [click](https://evil.example) # big > quote - list',
  '<script>alert(1)</script> & <a href="https://evil.example">x</a>',
  '{{DATE(2026-01-01T00:00:00Z,SHORT)}} \u0024{title} {{{a}}}',
  'line\nbreak\r\n\u0000\u0007\u202ereversed\u200b\ufeff\u2066 zero',
  '*'.repeat(5_000),
  '🦀'.repeat(2_500),
  '\ud800 half a pair',
  '\n\t ',
]
const at = '2026-11-23T12:03:04.000Z'
const base = { key: 'k', teamId: 't', at }
const image = {
  registryId: 'r',
  registryName: 'Hub',
  imageName: 'shop/web',
  tag: '1.2',
  digest: `sha256:${'0'.repeat(64)}`,
}

const events = (text: string): TeamEvent[] => [
  {
    ...base,
    type: 'deployment-status',
    deploymentId: 'd',
    releaseNumber: 3,
    successful: false,
    reason: text,
    projectName: text,
    versionName: text,
    nodeId: 'n',
    nodeName: text,
    prefix: 'shop',
    by: text,
  },
  { ...base, type: 'version-created', projectId: 'p', projectName: text, versionId: 'v', versionName: text, by: text },
  { ...base, type: 'node-added', nodeId: 'n', nodeName: text, by: text },
  { ...base, type: 'user-invited', email: text, teamName: text, by: text },
  { ...base, ...image, type: 'image-pushed', registryName: text, imageName: text || 'a' },
  { ...base, ...image, type: 'image-pulled', registryName: text, tag: text },
  { ...base, ...image, type: 'image-digest-changed', registryName: text },
  { ...base, type: 'node-unreachable', nodeId: 'n', nodeName: text, since: at },
  { ...base, type: 'node-back', nodeId: 'n', nodeName: text, since: at },
]
const toContent = (event: TeamEvent): Content => ({
  deliveryId: '0198',
  event: event.type,
  at,
  team: { id: 't', slug: 'team', name: 'Team' },
  text: toMessage(event).text,
  url: 'https://crux.example.com/team/nodes/n',
  details: {},
})

describe('the sentence of an event', () => {
  it('names what happened, where, and by whom', () => {
    const [failed, ...others] = events('X')
    const release = {
      ...failed,
      projectName: 'Shop',
      versionName: '1.2',
      nodeName: 'Rack',
      by: 'Ada',
      reason: 'no room.',
    } as TeamEvent
    expect(toMessage(release).text).toBe(
      'The deployment of Shop 1.2 to Rack (prefix shop) failed: no room. Ada had started it.',
    )
    expect(toMessage({ ...release, successful: true } as TeamEvent).text).toBe(
      'Ada deployed Shop 1.2 to Rack (prefix shop).',
    )
    expect(others.map((event) => toMessage(event).text)).toEqual([
      'X created the version X of X.',
      'X added the node X.',
      'X invited X to the team X.',
      'X:1.2 was pushed to X.',
      'shop/web:X was pulled from X.',
      `The tag shop/web:1.2 in X has a new digest: sha256:${'0'.repeat(64)}.`,
      'The node X has been unreachable since 2026-11-23 12:03 UTC.',
      'The node X is back. It was unreachable since 2026-11-23 12:03 UTC.',
    ])
    expect(testMessage('Chat').text).toBe('This is a test of the notification Chat.')
  })

  it.each(hostile)('is one line of visible text whatever the names are: %j', (text) => {
    for (const event of events(text)) {
      const sentence = toMessage(event).text
      expect(sentence).toMatch(/^[^\p{C}]+$/u)
      expect(sentence.length).toBeLessThan(1_200)
      expect(sentence.isWellFormed()).toBe(true)
      // PostgreSQL stores no null character in JSON.
      expect(JSON.stringify(toMessage(event).text)).not.toContain('\\u0000')
    }
  })

  it('names Unknown where a name is missing', () => {
    expect(toMessage({ ...base, type: 'node-added', nodeId: 'n', nodeName: 'Rack', by: '' }).text).toBe(
      'Unknown added the node Rack.',
    )
  })
})

describe.each(chats)('a message for %s', (type) => {
  it.each(['Ada', ...hostile])('fits the published shape and limits: %j', (text) => {
    for (const event of events(text)) {
      const parsed = schemas[type].safeParse(toPayload(type, toContent(event)))
      expect(parsed.error?.message).toBeUndefined()
    }
  })

  it('mentions nobody and links only to Crux', () => {
    for (const text of hostile)
      for (const event of events(text)) {
        const sent = JSON.stringify(toPayload(type, toContent(event)))
        expect(sent).not.toMatch(/@(everyone|here|all|channel)/)
        // A card of Teams mentions only those that it lists as entities.
        if (type !== 'teams') expect(sent).not.toMatch(/(?<!\\)<\\*[!@#]/)
        expect(
          sent.match(/https?:\/\/[\w.]+/g)?.filter((url) => !/crux\.example\.com|adaptivecards\.io/.test(url)) ?? [],
        ).toEqual([])
      }
  })
})

describe('a bare host in a name', () => {
  it.each(chats)('that begins with www is no link in a message for %s', (type) => {
    const [event] = events('Www.evil.example and WWW.evil.example').slice(2, 3)
    if (!event) throw new Error('no event')
    expect(JSON.stringify(toPayload(type, toContent(event)))).not.toMatch(/www\\?\./i)
  })

  it('is no link in Rocket.Chat, which needs no www', () => {
    const [event] = events('evil.example 1.2.3').slice(2, 3)
    if (!event) throw new Error('no event')
    const sent = JSON.stringify(toPayload('rocket', toContent(event)))
    expect(sent).not.toContain('evil.example')
    expect(sent).toContain('1.2.3')
  })
})

describe('Markdown', () => {
  it.each(['discord', 'rocket', 'mattermost'] as const)('of names is not formatted by %s', (type) => {
    const [event] = events('**a** _b_ `c` ||d|| [e](f) # g').slice(2, 3)
    if (!event) throw new Error('no event')
    const sent = JSON.parse(JSON.stringify(toPayload(type, toContent(event))))
    const text: string = type === 'discord' ? sent.embeds[0].description : sent.attachments[0].text
    expect(text.replace(/\\[\\*_~`|>#<[\]()!]/g, '')).not.toMatch(/[*_`|[\]()#]/)
  })

  it('is text for Slack, whose control characters are escaped', () => {
    const [event] = events('<!channel> & <b>').slice(2, 3)
    if (!event) throw new Error('no event')
    expect(toPayload('slack', toContent(event))).toMatchObject({
      blocks: [
        { elements: [{ type: 'plain_text', text: expect.stringContaining('&lt;!channel&gt; &amp; &lt;b&gt;') }] },
        {},
      ],
    })
  })

  it('is no function in a card of Teams', () => {
    const [event] = events('{{DATE(2026-01-01T00:00:00Z)}}').slice(2, 3)
    if (!event) throw new Error('no event')
    expect(JSON.stringify(toPayload('teams', toContent(event)))).not.toContain('{{')
  })
})
