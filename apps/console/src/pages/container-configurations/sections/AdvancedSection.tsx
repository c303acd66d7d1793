import { ConfigContainerSection, HealthSection, ResourcesSection, StorageSection } from './BeforeStartSections.tsx'
import { CapabilitiesSection, ExtraHostsSection, LimitsSection } from './EngineSections.tsx'
import { InitContainersSection } from './InitContainersSection.tsx'
import { HeadersSection, LoadBalancerSection, MetricsSection, StrategySection } from './KubernetesSections.tsx'
import { MarkersSection } from './MarkersSection.tsx'
import { StopSection } from './StopSection.tsx'
import type { AdvancedSectionId } from './section-ids.ts'

/** Sections that most configurations do without. */
export function AdvancedSection({ id }: { id: AdvancedSectionId }) {
  switch (id) {
    case 'storage':
      return <StorageSection />
    case 'configContainer':
      return <ConfigContainerSection />
    case 'health':
      return <HealthSection />
    case 'resources':
      return <ResourcesSection />
    case 'initContainers':
      return <InitContainersSection />
    case 'capabilities':
      return <CapabilitiesSection />
    case 'extraHosts':
      return <ExtraHostsSection />
    case 'stop':
      return <StopSection />
    case 'limits':
      return <LimitsSection />
    case 'strategy':
      return <StrategySection />
    case 'headers':
      return <HeadersSection />
    case 'loadBalancer':
      return <LoadBalancerSection />
    case 'kubernetesLabels':
      return <MarkersSection field="labels" />
    case 'annotations':
      return <MarkersSection field="annotations" />
    case 'metrics':
      return <MetricsSection />
  }
}
