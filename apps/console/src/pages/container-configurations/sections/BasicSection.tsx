import { useTranslation } from 'react-i18next'
import { isBase, useConfigForm } from '../form/config-context.ts'
import { SettingReset } from '../form/Origin.tsx'
import { Section } from '../form/Section.tsx'
import type { FieldFilter } from '../form/sections.ts'
import { KeyValueRows, useKeyValues } from '../rows/KeyValueRows.tsx'
import { SecretKeysSection } from '../secrets/SecretKeysSection.tsx'
import { SecretsSection } from '../secrets/SecretsSection.tsx'
import { ExpectedStateSection, LogSection, NetworksSection, RestartSection, RoutingSection } from './ChoiceSections.tsx'
import { PortsSection } from './PortsSection.tsx'
import type { BasicSectionId } from './section-ids.ts'
import { VolumesSection } from './VolumesSection.tsx'

/** Sections that many configurations have. */
export function BasicSection({ id, filter }: { id: BasicSectionId; filter: FieldFilter | undefined }) {
  switch (id) {
    case 'secrets':
      return <Secrets />
    case 'ports':
      return <PortsSection filter={filter} />
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
  }
}

/** A base layer names secrets, the others have their values. */
const Secrets = () => (isBase(useConfigForm().kind) ? <SecretKeysSection /> : <SecretsSection />)

function LabelsSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const list = useKeyValues('dockerLabels')
  return (
    <Section id="labels" actions={<SettingReset field="dockerLabels" label={t('section.labels')} />} onAdd={list.add}>
      <KeyValueRows list={list} label={t('section.labels')} />
    </Section>
  )
}
