import type { ComponentType } from 'react'
import { isBase, useConfigForm } from '../form/config-context.ts'
import type { FieldFilter, SectionId } from '../form/sections.ts'
import { SecretKeysSection } from '../secrets/SecretKeysSection.tsx'
import { SecretsSection } from '../secrets/SecretsSection.tsx'
import {
  CapabilitiesSection,
  DockerLabelsSection,
  ExpectedStateSection,
  ExtraHostsSection,
  LimitsSection,
  LogSection,
  NetworksSection,
} from './DockerSections.tsx'
import { HealthSection } from './HealthSection.tsx'
import { InitContainersSection } from './InitContainersSection.tsx'
import { HeadersSection, LoadBalancerSection, MetricsSection } from './KubernetesSections.tsx'
import { MarkersSection } from './MarkersSection.tsx'
import { PlainSection } from './PlainSections.tsx'
import { PortsSection } from './PortsSection.tsx'
import { StorageSection } from './StorageSection.tsx'
import { VolumesSection } from './VolumesSection.tsx'

export type OtherSectionId = Exclude<SectionId, 'general' | 'environment'>

/** A base layer names secrets, the others have their values. */
const Secrets = () => (isBase(useConfigForm().kind) ? <SecretKeysSection /> : <SecretsSection />)

const sections: Record<OtherSectionId, ComponentType<{ filter: FieldFilter | undefined }>> = {
  secrets: Secrets,
  ports: PortsSection,
  volumes: VolumesSection,
  storage: StorageSection,
  routing: () => <PlainSection id="routing" />,
  health: HealthSection,
  resources: () => <PlainSection id="resources" />,
  stop: () => <PlainSection id="stop" />,
  initContainers: InitContainersSection,
  configContainer: () => <PlainSection id="configContainer" />,
  expectedState: ExpectedStateSection,
  restart: () => <PlainSection id="restart" />,
  networks: NetworksSection,
  extraHosts: ExtraHostsSection,
  log: LogSection,
  labels: DockerLabelsSection,
  capabilities: CapabilitiesSection,
  limits: LimitsSection,
  strategy: () => <PlainSection id="strategy" />,
  headers: HeadersSection,
  loadBalancer: LoadBalancerSection,
  kubernetesLabels: () => <MarkersSection field="labels" />,
  annotations: () => <MarkersSection field="annotations" />,
  metrics: MetricsSection,
}

/** All sections but those that are there with the page. */
export function OtherSection({ id, filter }: { id: OtherSectionId; filter: FieldFilter | undefined }) {
  const Section = sections[id]
  return <Section filter={filter} />
}
