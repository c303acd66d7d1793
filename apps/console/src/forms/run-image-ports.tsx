import { portProtocols } from '@crux/contract'
import { Plus, X } from 'lucide-react'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Button, IconButton } from '../components/Button.tsx'
import { SelectField, TextField } from './fields.tsx'
import { proposeNodePort, type RunImageForm } from './use-run-proposal.ts'
import { useSettled } from './use-settled.ts'

/** The ports of the container, each with the port of the node that leads to it. */
export function RunImagePorts({ teamSlug, form }: { teamSlug: string; form: RunImageForm }) {
  const { t } = useTranslation('run')
  const ports = form.watch('ports')
  const setPorts = (rows: typeof ports) =>
    form.setValue('ports', rows, { shouldDirty: true, shouldValidate: form.formState.isSubmitted })
  return (
    <fieldset className="grid gap-2">
      <legend className="font-strong">{t('ports')}</legend>
      <p className="text-small text-ink-2">{ports.length > 0 ? t('portsHelp') : t('noPorts')}</p>
      {ports.map((port, index) => (
        <div key={index} className="grid grid-cols-[1fr_84px_1fr_28px] items-start gap-2">
          <TextField
            form={form}
            name={`ports.${index}.internal`}
            label={t('containerPort')}
            inputMode="numeric"
            autoComplete="off"
          />
          <SelectField
            form={form}
            name={`ports.${index}.protocol`}
            label={t('protocol')}
            options={portProtocols.map((protocol) => ({ value: protocol, label: protocol.toUpperCase() }))}
          />
          <NodePortField teamSlug={teamSlug} form={form} index={index} />
          <IconButton
            icon={X}
            label={t('removePort', { port: port.internal || index + 1 })}
            className="mt-[25px]"
            onClick={() => setPorts(ports.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <Button
        size="sm"
        icon={Plus}
        className="justify-self-start"
        onClick={() => setPorts([...ports, { internal: '', external: '', protocol: 'tcp' }])}
      >
        {t('addPort')}
      </Button>
    </fieldset>
  )
}

type NodePortProps = { teamSlug: string; form: RunImageForm; index: number }

/** An empty one is filled with a free port once the port of the container was typed. */
function NodePortField({ teamSlug, form, index }: NodePortProps) {
  const { t } = useTranslation('run')
  const internal = useSettled(form.watch(`ports.${index}.internal`))
  const nodeId = form.watch('nodeId')
  useEffect(() => {
    if (internal !== '' && nodeId !== '') void proposeNodePort(teamSlug, form, index)
  }, [internal, nodeId, teamSlug, form, index])
  return (
    <TextField
      form={form}
      name={`ports.${index}.external`}
      label={t('nodePort')}
      inputMode="numeric"
      autoComplete="off"
    />
  )
}
