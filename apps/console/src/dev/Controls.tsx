import { Pencil, Plus, Rocket, Trash2 } from 'lucide-react'
import type { AnimalName } from '../components/AnimalIcon.tsx'
import { Button, ButtonAnchor, ButtonLink, IconButton } from '../components/Button.tsx'
import { Checkbox } from '../components/Checkbox.tsx'
import { Chips } from '../components/Chips.tsx'
import { Copyable } from '../components/Copyable.tsx'
import { CopyButton } from '../components/CopyButton.tsx'
import { askText, confirm } from '../components/confirm.tsx'
import { DateRange, rangeOfDays } from '../components/DateRange.tsx'
import { Field, FieldError, PasswordInput, Select, TextArea, TextInput } from '../components/Field.tsx'
import { IconPicker } from '../components/IconPicker.tsx'
import { ActionMenu, Menu, MenuCheck, MenuLabel } from '../components/Menu.tsx'
import { SaveIndicator } from '../components/SaveIndicator.tsx'
import { SearchBox } from '../components/SearchBox.tsx'
import { ShownOnceDialog } from '../components/ShownOnceDialog.tsx'
import { Switch } from '../components/Switch.tsx'
import { Tab, Tabs } from '../components/Tabs.tsx'
import { TextLink } from '../components/TextLink.tsx'
import { toastSuccess, toastText, toastWarning } from '../components/toasts.tsx'
import { Controlled, Example, ignore } from './Example.tsx'

const reason = 'Only admins may do this'
const typedReason = { label: 'Reason', help: 'It is kept.', max: 100, missing: 'Type a reason first' }
const question = { title: 'Delete registry acme?', text: 'Images of it can no longer be pulled.', action: 'Delete' }

/** What is pressed, typed into and chosen from. */
export function Controls() {
  return (
    <>
      <Example name="Button">
        {(['main', 'plain', 'bare', 'bad', 'bad-main'] as const).map((variant) => (
          <Button key={variant} variant={variant} icon={Rocket}>
            {variant}
          </Button>
        ))}
        {(['sm', 'md', 'lg'] as const).map((size) => (
          <Button key={size} size={size}>
            {size}
          </Button>
        ))}
        <Button variant="main" busy>
          busy
        </Button>
        <Button disabledReason={reason}>disabled with a reason</Button>
        <IconButton icon={Pencil} label="Edit" />
        <IconButton icon={Trash2} label="Delete" disabledReason={reason} />
        <ButtonLink to="/404">link</ButtonLink>
        <ButtonAnchor href="/404">anchor</ButtonAnchor>
        <CopyButton text="text" withWord />
        <TextLink to="/404">text link</TextLink>
      </Example>
      <Example name="Menu">
        <ActionMenu
          actions={[
            { id: 'edit', label: 'Edit', icon: Pencil, run: ignore },
            { id: 'start', label: 'Deploy', icon: Rocket, disabledReason: reason, run: ignore },
            { id: 'delete', label: 'Delete', icon: Trash2, danger: true, run: ignore },
          ]}
        />
        <Menu trigger={<Button>Choices</Button>}>
          <MenuLabel>Columns</MenuLabel>
          <MenuCheck checked onChange={ignore}>
            Name
          </MenuCheck>
        </Menu>
      </Example>
      <Example name="Dialog, toasts">
        <Button onClick={() => void confirm(question)}>Question</Button>
        <Button onClick={() => void confirm({ ...question, danger: true, typeName: 'acme' })}>Typed name</Button>
        <Button onClick={() => void askText({ ...question, input: typedReason })}>Typed reason</Button>
        <Controlled initial={false}>
          {(isOpen, open) => (
            <>
              <Button onClick={() => open(true)}>Secret</Button>
              {isOpen && (
                <ShownOnceDialog
                  title="Copy the token now"
                  text="It is shown only once."
                  done="I have copied it"
                  onClose={() => open(false)}
                >
                  <Copyable label="Token" text="crux_example" />
                </ShownOnceDialog>
              )}
            </>
          )}
        </Controlled>
        <Button onClick={() => toastSuccess('Saved')}>Success</Button>
        <Button onClick={() => toastWarning('Saved, but the node is unreachable')}>Warning</Button>
        <Button onClick={() => toastText('The name is taken')}>Error</Button>
      </Example>
      <Example name="Field">
        <Field label="Name" help="Letters and digits" optional trailing="3 of 70">
          <TextInput defaultValue="web" />
        </Field>
        <Field label="Refused" error="The name is taken">
          <TextInput defaultValue="web" mono />
        </Field>
        <Field label="Read-only">
          <TextInput value="web" readOnly />
        </Field>
        <Field label="Disabled">
          <TextInput value="web" disabled onChange={ignore} />
        </Field>
        <Field label="Password">
          <PasswordInput defaultValue="correct horse" />
        </Field>
        <Field label="Note">
          <TextArea defaultValue={'two\nlines'} />
        </Field>
        <Field label="Type">
          <Select options={[{ value: 'versioned', label: 'versioned' }]} />
        </Field>
        <FieldError>An error without a field</FieldError>
      </Example>
      <Example name="Checkbox, Switch">
        {([true, false, 'indeterminate'] as const).map((state) => (
          <Controlled<boolean | 'indeterminate'> key={String(state)} initial={state}>
            {(checked, set) => <Checkbox label={String(state)} checked={checked} onChange={set} />}
          </Controlled>
        ))}
        <Checkbox label="disabled" checked disabled onChange={ignore} />
        {[true, false].map((state) => (
          <Controlled key={String(state)} initial={state}>
            {(checked, set) => <Switch label={String(state)} checked={checked} onChange={set} />}
          </Controlled>
        ))}
        <Switch label="disabled" checked disabled onChange={ignore} />
      </Example>
      <Example name="Chips, Tabs">
        {(['sm', 'md'] as const).map((size) => (
          <Controlled<'all' | 'failed' | 'off'> key={size} initial="all">
            {(value, set) => (
              <Chips
                label={size}
                size={size}
                value={value}
                onChange={set}
                options={[
                  { value: 'all', label: 'All', count: 12 },
                  { value: 'failed', label: 'Failed', count: 0 },
                  { value: 'off', label: 'Disabled', disabled: true },
                ]}
              />
            )}
          </Controlled>
        ))}
        <Chips label="invalid" invalid value="a" onChange={ignore} options={[{ value: 'a', label: 'Invalid' }]} />
        <Tabs label="Tabs">
          <Tab to="." selected count={3}>
            Selected
          </Tab>
          <Tab to="." selected={false} icon={Plus}>
            Other
          </Tab>
        </Tabs>
      </Example>
      <Example name="SearchBox, DateRange, IconPicker">
        <Controlled initial="nginx">
          {(value, set) => <SearchBox label="Search" value={value} onChange={set} />}
        </Controlled>
        <Controlled initial={rangeOfDays(6, new Date(2026, 0, 15))}>
          {(value, set) => <DateRange value={value} onChange={set} />}
        </Controlled>
        <Controlled<AnimalName | null> initial={null}>
          {(value, set) => <IconPicker value={value} onChange={set} />}
        </Controlled>
      </Example>
      <Example name="SaveIndicator">
        {(['saved', 'saving', 'waiting', 'held', 'typed', 'offline'] as const).map((status) => (
          <SaveIndicator key={status} status={status} />
        ))}
      </Example>
    </>
  )
}
