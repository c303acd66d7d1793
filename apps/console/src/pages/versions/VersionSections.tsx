import type { ResponseOf } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { Container, Rocket } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useEditors } from '../../api/editors.ts'
import { Tab, Tabs } from '../../components/Tabs.tsx'
import { versionTitle } from '../../components/version-title.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import type { VersionSection } from '../../routing/links.ts'
import { DeploymentsSection } from './DeploymentsSection.tsx'
import { isReadyToDeploy } from './DeployVersion.tsx'
import { ImagesSection } from './ImagesSection.tsx'
import { useReadOnlyReason } from './use-read-only-reason.ts'
import { useVersionLive } from './use-version-live.ts'

const ImageOrder = lazyComponent(async () => (await import('./ImageOrder.tsx')).ImageOrder)

type Props = {
  teamSlug: string
  project: ResponseOf<'projects.get'>
  version: ResponseOf<'versions.get'>
  section: VersionSection
}

/** Images and deployments of a version: on its own page, or inside the page of a versionless project. */
export function VersionSections({ teamSlug, project, version, section }: Props) {
  const { t } = useTranslation('versions')
  const navigate = useNavigate()
  const ids = { teamSlug, projectId: project.id, versionId: version.id }
  const live = useVersionLive(ids)
  useEditors('version', ids)
  const fixed = useReadOnlyReason(version)
  const orderDenied = live.denied.setOrder ?? fixed
  const go = (next: VersionSection) => void navigate({ to: '.', search: { section: next } })
  const images = [...version.images].sort((a, b) => a.order - b.order)
  return (
    <>
      <Tabs label={t('sections')}>
        <Tab
          to="."
          search={{ section: 'images' }}
          selected={section !== 'deployments'}
          icon={Container}
          count={images.length}
        >
          {t('images')}
        </Tab>
        <Tab
          to="."
          search={{ section: 'deployments' }}
          selected={section === 'deployments'}
          icon={Rocket}
          count={version.deployments.length}
        >
          {t('deployments')}
        </Tab>
      </Tabs>
      {section === 'deployments' && <DeploymentsSection teamSlug={teamSlug} project={project} version={version} />}
      {section === 'reorder' && !orderDenied && images.length > 1 && (
        <ImageOrder
          images={images}
          onDiscard={() => go('images')}
          onSave={(order) => {
            live.setOrder(order)
            go('images')
          }}
        />
      )}
      {(section === 'images' || (section === 'reorder' && (orderDenied || images.length < 2))) && (
        <ImagesSection
          teamSlug={teamSlug}
          isReady={isReadyToDeploy(version)}
          owner={versionTitle(project, version)}
          images={images}
          fixed={fixed}
          live={live}
          onReorder={() => go('reorder')}
        />
      )}
    </>
  )
}
