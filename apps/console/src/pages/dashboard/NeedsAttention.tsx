import type { ResponseOf } from '@crux/contract'
import { imageText } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX, Download } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { Button, ButtonLink } from '../../components/Button.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { StateMark } from '../../components/State.tsx'
import { type StatusStyle, statusStyles } from '../../components/status-styles.ts'
import { TextLink } from '../../components/TextLink.tsx'
import { versionTitle } from '../../components/version-title.ts'
import { links } from '../../routing/links.ts'
import { shortDigest } from '../deployments/short-digest.ts'
import { useStart } from '../deployments/use-start.ts'
import { AttentionRow } from './AttentionRow.tsx'
import { attentionQuery } from './dashboard-queries.ts'

type Attention = ResponseOf<'dashboard.attention'>
type RowsProps = { teamSlug: string; attention: Attention }

const failed: StatusStyle = { tone: 'failed', icon: CircleX }
const newer: StatusStyle = { tone: 'progress', icon: Download }
const calm: StatusStyle = { tone: 'running', icon: CircleCheck }

/** Failures that nothing has ended yet, nodes that are away, and new digests, each with the one action. */
export function NeedsAttention({ teamSlug, hiddenIfCalm }: { teamSlug: string; hiddenIfCalm?: boolean }) {
  const { t } = useTranslation('dashboard')
  const query = useQuery({ ...attentionQuery(teamSlug), refetchInterval: 15_000 })
  if (hiddenIfCalm && (!query.data || countRows(query.data) === 0)) return null
  return (
    <QueryView query={query} skeleton={<SkeletonRows rows={1} />}>
      {(attention) => {
        const count = countRows(attention)
        if (count === 0)
          return (
            <Box label={t('attention.title')}>
              <p className="px-3.5 py-2.5">
                <StateMark appearance={calm} label={t('attention.calm')} />
              </p>
            </Box>
          )
        return (
          <Box title={t('attention.title')} trailing={attention.truncated.length > 0 ? `${count}+` : count}>
            <ul aria-label={t('attention.title')}>
              <Deployments teamSlug={teamSlug} attention={attention} />
              <Nodes teamSlug={teamSlug} attention={attention} />
              <Digests teamSlug={teamSlug} attention={attention} />
              <Integrations teamSlug={teamSlug} attention={attention} />
            </ul>
          </Box>
        )
      }}
    </QueryView>
  )
}

const countRows = ({ truncated: _, ...lists }: Attention) =>
  Object.values(lists).reduce((sum, rows) => sum + rows.length, 0)

function Deployments({ teamSlug, attention }: RowsProps) {
  const { t } = useTranslation(['dashboard', 'deployments'])
  const { askAndStart, starting, startDenied } = useStart(teamSlug)
  return attention.failedDeployments.map(({ deployment, release, failedAt }) => (
    <AttentionRow
      key={deployment.id}
      appearance={failed}
      state={t('attention.deployment')}
      title={
        <TextLink {...links.deploymentProgress(teamSlug, deployment.id, release)} strong>
          {t('attention.at', {
            name: versionTitle(deployment.project, deployment.version),
            node: deployment.node.name,
            prefix: deployment.prefix,
          })}
        </TextLink>
      }
      text={deployment.outcome}
      since={failedAt}
      action={
        <Button size="sm" busy={starting} disabledReason={startDenied} onClick={() => void askAndStart(deployment)}>
          {t('deployments:action.again')}
        </Button>
      }
    />
  ))
}

function Nodes({ teamSlug, attention }: RowsProps) {
  const { t } = useTranslation(['dashboard', 'common'])
  return attention.unreachableNodes.map((node) => (
    <AttentionRow
      key={node.id}
      appearance={statusStyles.node.unreachable}
      state={t('common:state.node.unreachable')}
      title={
        <TextLink {...links.node(teamSlug, node.id)} strong>
          {node.name}
        </TextLink>
      }
      text={t('attention.nodeText')}
      since={node.since}
      action={
        <ButtonLink {...links.node(teamSlug, node.id)} size="sm">
          {t('attention.openNode')}
        </ButtonLink>
      }
    />
  ))
}

function Digests({ teamSlug, attention }: RowsProps) {
  const { t } = useTranslation('dashboard')
  return attention.pendingDigests.map(({ deployment, instanceId, imageName, imageTag, digest, since }) => (
    <AttentionRow
      key={instanceId}
      appearance={newer}
      state={t('attention.digest')}
      title={
        <TextLink {...links.deployment(teamSlug, deployment.id)} strong>
          {t('attention.at', {
            name: versionTitle(deployment.project, deployment.version),
            node: deployment.node.name,
            prefix: deployment.prefix,
          })}
        </TextLink>
      }
      text={
        <>
          <code>{imageText({ name: imageName, tag: imageTag })}</code> <code title={digest}>{shortDigest(digest)}</code>
        </>
      }
      since={since}
      action={
        <ButtonLink {...links.deployment(teamSlug, deployment.id)} size="sm">
          {t('attention.review')}
        </ButtonLink>
      }
    />
  ))
}

/** Pipelines and notifications. */
function Integrations({ teamSlug, attention }: RowsProps) {
  const { t } = useTranslation('dashboard')
  return (
    <>
      {attention.failedPipelines.map(({ id, name, reason, failedAt }) => (
        <AttentionRow
          key={id}
          appearance={failed}
          state={t('attention.pipeline')}
          title={
            <TextLink {...links.pipeline(teamSlug, id)} strong>
              {name}
            </TextLink>
          }
          text={reason}
          since={failedAt}
          action={
            <ButtonLink {...links.pipeline(teamSlug, id)} size="sm">
              {t('attention.showRuns')}
            </ButtonLink>
          }
        />
      ))}
      {attention.disabledNotifications.map(({ id, name, problem }) => (
        <AttentionRow
          key={id}
          appearance={failed}
          state={t('attention.notification')}
          title={
            <TextLink {...links.notification(teamSlug, id)} strong>
              {name}
            </TextLink>
          }
          text={problem}
          action={
            <ButtonLink {...links.notification(teamSlug, id)} size="sm">
              {t('attention.openNotification')}
            </ButtonLink>
          }
        />
      ))}
    </>
  )
}
