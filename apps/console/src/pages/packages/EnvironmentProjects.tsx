import type { ResponseOf } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { ExternalLink, Rocket } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useDenied } from '../../api/me.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { findCell, findOffer, type PromotionTarget } from './board.ts'
import type { Chain } from './chain-versions.ts'
import { RunningState } from './RunningState.tsx'
import { useBoard } from './use-board.ts'

type Props = {
  teamSlug: string
  packageId: string
  details: ResponseOf<'packages.get-environment'>
  onPromote: (target: PromotionTarget) => void
}

/** A row per project: what runs, the latest version, and what was deployed last. */
export function EnvironmentProjects({ teamSlug, packageId, details, onPromote }: Props) {
  const { t } = useTranslation('packages')
  const navigate = useNavigate()
  const denied = useDenied('packages.promote')
  const { data: board } = useBoard({ teamSlug, packageId })
  const columns = useColumns(teamSlug, details)
  const getOffer = ({ chainId }: Chain) => {
    const project = board?.projects.find((one) => one.chainId === chainId)
    const cell = findCell(project, details.id)
    return board && project && cell && findOffer(board, project, cell)
  }
  const open = ({ chainId, project }: Chain, versionId?: string) =>
    onPromote({ chainId, project, environment: details, versionId })
  if (details.versionChains.length === 0) return <p className="text-ink-2">{t('versions.empty')}</p>
  return (
    <Box title={t('versions.title')} trailing={details.versionChains.length}>
      <DataTable
        flush
        label={t('versions.title')}
        rows={details.versionChains}
        columns={columns}
        rowKey={({ chainId }) => chainId}
        initialSort={null}
        rowButton={(chain) => {
          const offer = getOffer(chain)
          const names = { project: chain.project.name, environment: details.name }
          return (
            offer && (
              <Button
                size="sm"
                aria-label={t(offer.kind === 'promote' ? 'board.promoteTo' : 'board.deployVersionTo', {
                  ...names,
                  version: offer.version.name,
                })}
                disabledReason={denied}
                onClick={() => open(chain, offer.version.id)}
              >
                {t(offer.kind === 'promote' ? 'versions.promote' : 'versions.deploy', { version: offer.version.name })}
              </Button>
            )
          )
        }}
        actions={(chain) => {
          const newest = findNewest(chain)
          return [
            {
              id: 'deploy',
              label: t('board.deployTo', { project: chain.project.name, environment: details.name }),
              icon: Rocket,
              inline: true,
              disabledReason: denied ?? (chain.versions.length === 0 && t('promote.noVersion')),
              run: () => open(chain),
            },
            {
              id: 'open',
              label: t('versions.open'),
              icon: ExternalLink,
              inline: true,
              disabledReason: !newest && t('versions.noDeployment'),
              run: () => newest && void navigate(links.deployment(teamSlug, newest.deployment.id)),
            },
          ]
        }}
      />
    </Box>
  )
}

function useColumns(teamSlug: string, details: Props['details']): Column<Chain>[] {
  const { t } = useTranslation('packages')
  return [
    {
      id: 'project',
      header: t('versions.project'),
      narrow: 'title',
      cell: ({ project }) => (
        <TextLink {...links.project(teamSlug, project.id)} className="font-strong text-ink!">
          {project.name}
        </TextLink>
      ),
    },
    {
      id: 'current',
      header: t('versions.current'),
      narrow: 'lead',
      cell: ({ running }) =>
        running ? (
          <span className="inline-flex items-center gap-2">
            <TextLink
              {...links.deployment(teamSlug, running.deploymentId)}
              className="mono max-w-48 truncate font-semibold text-ink!"
              title={running.version.name}
            >
              {running.version.name}
            </TextLink>
            <RunningState node={details.node} />
          </span>
        ) : (
          <span className="text-ink-3">{t('board.nothing')}</span>
        ),
    },
    {
      id: 'deployed',
      header: t('versions.deployed'),
      narrow: 'end',
      cell: ({ running }) => (
        <span data-no-value={!running || undefined}>
          {running ? (
            <span className="text-ink-2">
              <TimeAgo at={running.deployedAt} /> {t('board.by', { name: running.deployedBy })}
            </span>
          ) : (
            <span className="text-ink-3">-</span>
          )}
        </span>
      ),
    },
    {
      id: 'latest',
      header: t('versions.latest'),
      narrow: 'none',
      cell: ({ versions }) => <code className="text-ink-2">{versions.at(-1)?.name ?? '-'}</code>,
    },
    {
      id: 'latest named',
      header: null,
      only: 'narrow',
      narrow: 'detail',
      cell: ({ versions }) => t('board.latest', { version: versions.at(-1)?.name ?? '-' }),
    },
    {
      id: 'newest',
      header: t('versions.newest'),
      grow: true,
      narrow: 'detail',
      cell: (chain) => <NewestDeployment teamSlug={teamSlug} chain={chain} />,
    },
  ]
}

/** The deployment that changed last, unless it is the one that runs. */
function NewestDeployment({ teamSlug, chain }: { teamSlug: string; chain: Chain }) {
  const newest = findNewest(chain)
  if (!newest || newest.deployment.id === chain.running?.deploymentId) return null
  const { id, status } = newest.deployment
  const link = status === 'preparing' ? links.deployment(teamSlug, id) : links.deploymentProgress(teamSlug, id)
  return (
    <span className="inline-flex items-center gap-2">
      <State kind="deployment" value={status} />
      <TextLink {...link} className="mono">
        {newest.name}
      </TextLink>
    </span>
  )
}

/** The deployment of the chain that changed last. */
function findNewest({ versions }: Chain) {
  const deployed = versions.flatMap(({ name, deployment }) => (deployment ? [{ name, deployment }] : []))
  return deployed.sort((a, b) => Date.parse(b.deployment.audit.updatedAt) - Date.parse(a.deployment.audit.updatedAt))[0]
}
