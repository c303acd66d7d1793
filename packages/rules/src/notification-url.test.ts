import { describe, expect, it } from 'vitest'
import { type NotificationUrlType, notificationUrlExamples, parseNotificationUrl, urlMask } from './notification-url.ts'

const types = Object.keys(notificationUrlExamples) as NotificationUrlType[]
const guid = '11111111-2222-3333-4444-555555555555'
const workflow = '/workflows/0a1b2c3d/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers&sv=1.0'

describe('the address of a notification', () => {
  it.each(types)('of the type %s has an example that is accepted, by no other chat', (type) => {
    const example = notificationUrlExamples[type]
    expect(parseNotificationUrl(type, example)).toMatchObject({ ok: true, url: example })
    const chats = types.filter((other) => other !== type && other !== 'webhook')
    const accepting = chats.filter((other) => parseNotificationUrl(other, example).ok)
    expect(accepting).toEqual([])
  })

  it.each<[NotificationUrlType, string, string]>([
    ['discord', 'https://discordapp.com/api/webhooks/12/a-b_c', 'https://discordapp.com/api/webhooks/12/••••'],
    [
      'discord',
      'https://discord.com/api/v10/webhooks/12/t?thread_id=3',
      'https://discord.com/api/v10/webhooks/12/••••',
    ],
    [
      'slack',
      `https://hooks.slack.com/services/T012345678/B012345678/${'a'.repeat(24)}`,
      'https://hooks.slack.com/services/T012345678/B012345678/••••',
    ],
    [
      'teams',
      `https://contoso.webhook.office.com/webhookb2/${guid}@${guid}/IncomingWebhook/0123/${guid}`,
      `https://contoso.webhook.office.com/webhookb2/${guid}@${guid}/••••`,
    ],
    [
      'teams',
      `https://prod-12.westeurope.logic.azure.com:443${workflow}&sig=secret`,
      'https://prod-12.westeurope.logic.azure.com/workflows/0a1b2c3d/••••',
    ],
    [
      'teams',
      `https://default0.1.environment.api.powerplatform.com:443/powerautomate/automations/direct${workflow}&sig=secret`,
      'https://default0.1.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/0a1b2c3d/••••',
    ],
    [
      'rocket',
      `https://chat.example.com:8443/rocket/hooks/${'0'.repeat(24)}/${'T'.repeat(64)}`,
      `https://chat.example.com:8443/rocket/hooks/${'0'.repeat(24)}/••••`,
    ],
    ['mattermost', 'https://chat.example.com/hooks/abc123', 'https://chat.example.com/hooks/••••'],
    ['webhook', ' http://10.0.0.7:9000/secret/path?token=x ', 'http://10.0.0.7:9000/••••'],
    ['webhook', 'https://example.com', 'https://example.com'],
  ])('of the type %s is read: %s', (type, text, masked) => {
    const parsed = parseNotificationUrl(type, text)
    expect(parsed).toEqual({ ok: true, url: new URL(text.trim()).href, masked })
  })

  it.each<[NotificationUrlType, string]>([
    ['discord', 'http://discord.com/api/webhooks/12/token'],
    ['discord', 'https://discord.com.example.com/api/webhooks/12/token'],
    ['discord', 'https://discord.com:8443/api/webhooks/12/token'],
    ['discord', 'https://discord.com/api/webhooks/99'],
    ['discord', 'https://user:pass@discord.com/api/webhooks/12/token'],
    ['slack', 'https://hooks.slack.com/services/T0/B0/x'],
    ['slack', `https://hooks.slack.com/services/T012345678/B012345678/${'a'.repeat(25)}`],
    ['teams', `https://prod-12.westeurope.logic.azure.com${workflow}`],
    ['teams', `https://logic.azure.com.example.com${workflow}&sig=secret`],
    ['teams', 'https://webhook.office.com/webhookb2/a/IncomingWebhook/b/c'],
    ['rocket', `https://chat.example.com/hooks/${'0'.repeat(24)}/short`],
    ['mattermost', 'https://team.example.com/hooks/'],
    ['mattermost', 'http://chat.example.com/hooks/abc'],
    ['webhook', 'ftp://example.com/x'],
    ['webhook', 'https://user:pass@example.com/x'],
    ['webhook', 'https://example.com/x#part'],
    ['webhook', 'receiver.example.com'],
    ['webhook', `https://example.com/${urlMask}`],
    ['webhook', ''],
  ])('of the type %s is refused, with a problem that does not repeat it: %s', (type, text) => {
    const parsed = parseNotificationUrl(type, text)
    if (parsed.ok) throw new Error(`accepted as ${parsed.url}`)
    expect(parsed.problem).toMatch(/^(Write an address such as https:|Enter )/)
    if (text) expect(parsed.problem).not.toContain(text)
  })

  it('keeps its secret part out of what is shown', () => {
    for (const type of types) {
      const parsed = parseNotificationUrl(type, notificationUrlExamples[type])
      if (!parsed.ok) throw new Error(parsed.problem)
      expect(parsed.masked.endsWith(urlMask)).toBe(true)
      expect(parsed.masked).not.toContain(new URL(notificationUrlExamples[type]).pathname.split('/').at(-1))
    }
  })
})
