import { lazy, type ReactNode, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { loadChunk } from '../../load-chunk.ts'
import { ExpectedStateSection, LogSection, NetworksSection, RestartSection, RoutingSection } from './ChoiceSections.tsx'
import { isBase, useConfigForm } from './config-context.ts'
import { EnvironmentSection } from './EnvironmentSection.tsx'
import { GeneralSection } from './GeneralSection.tsx'
import { KeyValueRows, useKeyValues } from './KeyValueRows.tsx'
import { SettingReset } from './Origin.tsx'
import { PortsSection } from './PortsSection.tsx'
import { SecretKeysSection } from './SecretKeysSection.tsx'
import { SecretsSection } from './SecretsSection.tsx'
import { Section } from './Section.tsx'
import type { SectionId } from './sections.ts'
import { VolumesSection } from './VolumesSection.tsx'

type Props = { id: SectionId; defaultName: string; prefix: string | undefined }

/** One section of the form by its name. Those that few configurations have come when the first of them is shown. */
export function ShownSection({ id, defaultName, prefix }: Props) {
  return (
    <Suspense fallback={<div className="skeleton h-32 rounded-box" />}>{sectionOf(id, defaultName, prefix)}</Suspense>
  )
}

function sectionOf(id: SectionId, defaultName: string, prefix: string | undefined): ReactNode {
  switch (id) {
    case 'general':
      return <GeneralSection defaultName={defaultName} prefix={prefix} />
    case 'environment':
      return <EnvironmentSection name={defaultName} />
    case 'secrets':
      return <Secrets />
    case 'ports':
      return <PortsSection />
    case 'volumes':
      return <VolumesSection />
    case 'routing':
      return <RoutingSection />
    case 'expectedState':
      return <ExpectedStateSection />
    case 'networks':
      return <NetworksSection />
    case 'restart':
      return <RestartSection />
    case 'log':
      return <LogSection />
    case 'labels':
      return <LabelsSection />
    default:
      return <RareSection id={id} />
  }
}

const RareSection = lazy(() =>
  loadChunk(() => import('./RareSection.tsx')).then((module) => ({ default: module.RareSection })),
)

/** A base layer names secrets, the others have their values. */
const Secrets = () => (isBase(useConfigForm().kind) ? <SecretKeysSection /> : <SecretsSection />)

function LabelsSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const list = useKeyValues('dockerLabels')
  return (
    <Section id="labels" tools={<SettingReset field="dockerLabels" label={t('section.labels')} />} onAdd={list.add}>
      <KeyValueRows list={list} label={t('section.labels')} />
    </Section>
  )
}
