import { getAddress } from '@crux/client'
import type { ResponseOf } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { Download, GitCompare } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button, ButtonAnchor } from '../../components/Button.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { links } from '../../routing/links.ts'
import { CancelButton } from './CancelButton.tsx'
import { ReleasePicker } from './ReleasePicker.tsx'
import type { Release } from './release.ts'

type Props = {
  teamSlug: string
  deployment: ResponseOf<'deployments.get'>
  /** The project with the version, which tells pages of several releases apart. */
  title: string
  versionName: string
  releases: readonly Release[]
  /** The release of the page, once it is known. */
  release: Release | undefined
  /** The number of the release; 0 before the first. */
  number: number
  hasLog: boolean
  busy: boolean
  onChanges: () => void
}

/** What is deployed where, who started it, and the actions on the release as a whole. */
export function ProgressHeader(props: Props) {
  const { teamSlug, deployment, title, versionName, releases, release, number, hasLog, busy, onChanges } = props
  const { t } = useTranslation('deployments')
  const navigate = useNavigate()
  const params = { teamSlug, deploymentId: deployment.id }
  const fullTitle = t('detail.fullTitle', { title, node: deployment.node.name })
  return (
    <PageHeader
      title={deployment.project.name}
      fullTitle={fullTitle}
      crumb={number > 0 ? t('detail.release', { number }) : undefined}
      crumbs={[
        { label: t('list.title'), link: links.deployments(teamSlug) },
        {
          label: fullTitle,
          link: links.deployment(teamSlug, deployment.id),
        },
      ]}
      mark={
        deployment.project.type === 'versioned' && (
          <TextLink {...links.deployment(teamSlug, deployment.id)} strong className="font-mono text-[17px]">
            {versionName}
          </TextLink>
        )
      }
      subtitle={
        <>
          {t('detail.to')} <b className="font-strong text-ink">{deployment.node.name}</b> {t('detail.under')}{' '}
          <code>{deployment.prefix}</code>
          {release && (
            <>
              , {t('progress.release', { number: release.number })},{' '}
              {t('progress.startedBy', { name: release.startedBy.name })} <TimeAgo at={release.startedAt} />
            </>
          )}
        </>
      }
      actions={
        <>
          <ReleasePicker
            releases={releases}
            number={number}
            onPick={(picked) => void navigate(links.deploymentProgress(teamSlug, deployment.id, picked))}
          />
          {hasLog && (
            <ButtonAnchor
              icon={Download}
              download
              href={getAddress('deployments.log-file', { params, query: { try: number } })}
            >
              {t('progress.file')}
            </ButtonAnchor>
          )}
          <Button icon={GitCompare} onClick={onChanges}>
            {t('changes.title')}
          </Button>
          {busy && <CancelButton teamSlug={teamSlug} deployment={deployment} />}
        </>
      }
    />
  )
}
