import type { NotificationType } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { useTeam } from '../api/me.ts'
import { CodeBlock } from '../components/CodeBlock.tsx'

const at = '2026-01-31T09:30:00.000Z'

/** An example of what arrives, as text: each service draws it in its own way. */
export function NotificationPreview({ type }: { type: NotificationType }) {
  const { t } = useTranslation('notifications')
  return (
    <div className="grid min-w-0 grid-cols-1 gap-[5px]">
      <h3 className="font-strong">{t('preview.title')}</h3>
      {type === 'webhook' ? (
        <WebhookExample />
      ) : (
        <div className="rounded-md border border-line bg-sunken px-3 py-2 wrap-anywhere">
          <Message type={type} />
        </div>
      )}
    </div>
  )
}

function Message({ type }: { type: Exclude<NotificationType, 'webhook'> }) {
  const { t } = useTranslation(['notifications', 'common'])
  const { name } = useTeam()
  const text = t('preview.text')
  if (type === 'email')
    return (
      <>
        <p className="font-strong">{`[${name}] ${text}`}</p>
        <p className="mt-1">{text}</p>
        <p className="mt-1 text-accent">{t('preview.link')}</p>
      </>
    )
  const time = `${at.slice(0, 16).replace('T', ' ')} UTC`
  const lines = {
    discord: [time],
    slack: [`${time} · ${t('preview.link')}`],
    teams: [time, t('preview.link')],
    rocket: [],
    mattermost: [],
  }
  return (
    <>
      {type !== 'slack' && <p className="font-strong">{t('common:product')}</p>}
      <p>{text}</p>
      {lines[type].map((line) => (
        <p key={line} className="text-small text-ink-2">
          {line}
        </p>
      ))}
    </>
  )
}

function WebhookExample() {
  const { t } = useTranslation('notifications')
  const { id, slug, name } = useTeam()
  const example = {
    id: '00000000-0000-4000-8000-000000000000',
    event: 'deployment-status',
    createdAt: at,
    team: { id, slug, name },
    text: t('preview.text'),
    url: `${location.origin}/${slug}/deployments/…`,
    data: { successful: true, projectName: 'shop', versionName: '1.3.0', nodeName: 'node-1', prefix: 'prod' },
  }
  return (
    <CodeBlock
      text={JSON.stringify(example, null, 2)}
      label={t('preview.title')}
      className="max-h-56 rounded-md border border-line"
    />
  )
}
