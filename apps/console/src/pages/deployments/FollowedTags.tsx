import { followModes, type ResponseOf } from '@crux/contract'
import { imageText, parseImageTag } from '@crux/rules'
import { Rocket } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { useNow } from '../../components/RelativeTime.tsx'
import { relativeTime } from '../../components/relative-time.ts'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { instanceName } from './instance-name.ts'
import { shortDigest } from './short-digest.ts'

type Details = ResponseOf<'deployments.get'>
type Instance = Details['instances'][number]
type Props = {
  teamSlug: string
  deployment: Details
  onDeploy: (instanceId: string) => void
  starting: boolean
  /** Why nothing can be started now. */
  startReason: string | null
}

/** What a new digest of each image's tag leads to, and what is known of the tag. */
export function FollowedTags({ teamSlug, deployment, ...start }: Props) {
  const { t } = useTranslation('deployments')
  return (
    <Box title={t('follow.title')}>
      <p className="px-3 pt-2.5 text-ink-2">{t('follow.text')}</p>
      <ul aria-label={t('follow.title')} className="divide-y divide-line">
        {deployment.instances.map((instance) => (
          <li key={instance.id} className="grid gap-1.5 px-3 py-2.5">
            <FollowedTag teamSlug={teamSlug} deployment={deployment} instance={instance} />
            <TagStatus instance={instance} {...start} />
          </li>
        ))}
      </ul>
    </Box>
  )
}

function FollowedTag({
  teamSlug,
  deployment,
  instance,
}: Pick<Props, 'teamSlug' | 'deployment'> & { instance: Instance }) {
  const { t } = useTranslation('deployments')
  const params = { teamSlug, deploymentId: deployment.id }
  const update = useCall('deployments.update-instance', { stale: [queryKey('deployments.get', { params })] })
  const name = instanceName(instance)
  const isPinned = parseImageTag(instance.image.tag).digest !== null
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <div className="min-w-0 flex-1 basis-40">
        <b className="font-strong">{name}</b>{' '}
        <code className="break-words text-ink-2" title={instance.image.tag ?? undefined}>
          {imageText({ name: instance.image.name, tag: instance.image.tag || 'latest' })}
        </code>
        {isPinned && <p className="text-small text-ink-2">{t('follow.pinned')}</p>}
      </div>
      <span title={update.denied ?? undefined}>
        <Chips
          label={t('follow.label', { name })}
          value={instance.follow ?? 'off'}
          disabled={update.isPending || update.denied !== null}
          onChange={(follow) => update.mutate({ params: { ...params, instanceId: instance.id }, body: { follow } })}
          options={followModes.map((value) => ({
            value,
            label: t(`follow.${value}`),
            disabled: isPinned && value !== 'off',
          }))}
        />
      </span>
    </div>
  )
}

function TagStatus({
  instance,
  onDeploy,
  starting,
  startReason,
}: Omit<Props, 'teamSlug' | 'deployment'> & { instance: Instance }) {
  const { t } = useTranslation('deployments')
  const { following, follow } = instance
  if (!following || follow === 'off') return null
  const { pending, problem, error, by } = following
  return (
    <>
      {pending && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
          <p className="min-w-0 flex-1 basis-60 break-words">
            {t('follow.pending')} <code title={pending.digest}>{shortDigest(pending.digest)}</code>, {t('follow.since')}{' '}
            <TimeAgo at={pending.since} />
          </p>
          <Button
            size="sm"
            icon={Rocket}
            busy={starting}
            disabledReason={startReason}
            onClick={() => onDeploy(instance.id)}
          >
            {t('follow.deployNow', { name: instanceName(instance) })}
          </Button>
        </div>
      )}
      {problem && <p className="break-words text-failed">{problem}</p>}
      {error && <p className="break-words text-failed">{error}</p>}
      <p className="text-small text-ink-2">
        <LastCheck following={following} />
        {by && ` ${t(follow === 'deploy' ? 'follow.deployBy' : 'follow.notifyBy', { name: by.name })}`}
      </p>
    </>
  )
}

function LastCheck({ following: { checkedAt, nextCheckAt } }: { following: NonNullable<Instance['following']> }) {
  const { t } = useTranslation('deployments')
  const now = useNow()
  const next = nextCheckAt ? Date.parse(nextCheckAt) : now
  const time = relativeTime(now, next)
  return (
    <>
      {checkedAt ? (
        <>
          {t('follow.checked')} <TimeAgo at={checkedAt} />.{' '}
        </>
      ) : (
        `${t('follow.unchecked')} `
      )}
      {next - now < soonMs ? t('follow.nextSoon') : t('follow.next', { time })}
    </>
  )
}

const soonMs = 5_000
