import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { isUnfinished } from '../../forms/freeze-times.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { refetchIntervalMs } from '../deployments/DeploymentOutcome.tsx'
import type { PromotionTarget } from './board.ts'
import { EnvironmentProjects } from './EnvironmentProjects.tsx'
import { FreezeWindows } from './FreezeWindows.tsx'
import { PromotionHistory } from './PromotionHistory.tsx'
import { useLiveNodes } from './use-board.ts'
import { useFrozen, useRemoveEnvironment } from './use-environment-actions.ts'

const EnvironmentForm = lazyComponent(async () => (await import('../../forms/environment-form.tsx')).EnvironmentForm)
const PromoteDialog = lazyComponent(async () => (await import('./PromoteDialog.tsx')).PromoteDialog)

const route = getRouteApi('/app/$teamSlug/packages/$packageId/environments/$environmentId')
type Details = ResponseOf<'packages.get-environment'>

/** One environment of a package: what runs there of each project, its freeze windows, and who promoted what. */
export function EnvironmentPage() {
  const params = route.useParams()
  const query = useQuery({
    ...apiQuery('packages.get-environment', { params }),
    refetchInterval: ({ state }) => refetchIntervalMs(state.data && listDeployments(state.data)),
  })
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(environment) => <EnvironmentView {...params} details={environment} />}
    </QueryView>
  )
}

const listDeployments = ({ versionChains }: Details) =>
  versionChains.flatMap(({ versions }) => versions.flatMap(({ deployment }) => (deployment ? [deployment] : [])))

type ViewProps = { teamSlug: string; packageId: string; details: Details }

function EnvironmentView({ teamSlug, packageId, details }: ViewProps) {
  const { t } = useTranslation(['packages', 'common'])
  const navigate = useNavigate()
  const edit = useAnchor('edit')
  const params = { teamSlug, packageId }
  const [target, setTarget] = useState<PromotionTarget | null>(null)
  const [environment = details] = useLiveNodes(teamSlug, [details])
  const editDenied = useDenied('packages.update-environment')
  const removal = useRemoveEnvironment(async () => {
    toastSuccess(t('environment.deleted', { name: details.name }))
    await navigate(links.package(teamSlug, packageId))
  })
  const frozen = useFrozen()(details.freezeWindows?.some((window) => isUnfinished(window, Date.now())))
  const { node } = environment
  return (
    <>
      <PageHeader
        title={details.name}
        fullTitle={details.name}
        crumbs={[
          { label: t('title'), link: links.packages(teamSlug) },
          { label: details.package.name, link: links.package(teamSlug, packageId) },
        ]}
        mark={<State kind="node" value={node.status} />}
        subtitle={
          <>
            {t('environment.on')}{' '}
            <TextLink {...links.node(teamSlug, node.id)} className="font-strong text-ink!">
              {node.name}
            </TextLink>{' '}
            {t('environment.under')} <code>{details.prefix}</code>
          </>
        }
        actions={
          <>
            <Button icon={Pencil} disabledReason={editDenied} onClick={edit.show}>
              {t('common:edit')}
            </Button>
            <Button
              icon={Trash2}
              variant="bad"
              busy={removal.busy}
              disabledReason={removal.denied ?? frozen}
              onClick={() => void removal.ask(params, details)}
            >
              {t('common:delete')}
            </Button>
          </>
        }
      />
      <div className="grid grid-cols-1 gap-4">
        <EnvironmentProjects {...params} details={environment} onPromote={setTarget} />
        <FreezeWindows environment={details} />
        <PromotionHistory {...params} environmentId={details.id} />
      </div>
      {edit.open && !editDenied && (
        <EnvironmentForm
          {...params}
          packageName={details.package.name}
          environment={details}
          frozen={frozen}
          onClose={edit.close}
        />
      )}
      {target && <PromoteDialog {...params} target={target} onClose={() => setTarget(null)} />}
    </>
  )
}
