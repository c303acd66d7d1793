CREATE TABLE "identity"."codes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"flow_id" uuid NOT NULL,
	"address_id" uuid,
	"identity_id" uuid,
	"code_hash" "bytea" NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity"."credential_identifiers" (
	"type" text NOT NULL,
	"identifier" text NOT NULL,
	"identity_id" uuid NOT NULL,
	CONSTRAINT "credential_identifiers_type_identifier_pk" PRIMARY KEY("type","identifier")
);
--> statement-breakpoint
CREATE TABLE "identity"."credentials" (
	"identity_id" uuid NOT NULL,
	"type" text NOT NULL,
	"config" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "credentials_identity_id_type_pk" PRIMARY KEY("identity_id","type")
);
--> statement-breakpoint
CREATE TABLE "identity"."errors" (
	"id" uuid PRIMARY KEY NOT NULL,
	"error" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity"."flows" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"type" text NOT NULL,
	"state" text NOT NULL,
	"active" text,
	"request_url" text NOT NULL,
	"return_to" text,
	"csrf_hash" text,
	"identity_id" uuid,
	"ui" jsonb NOT NULL,
	"context" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"issued_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity"."identities" (
	"id" uuid PRIMARY KEY NOT NULL,
	"schema_id" text NOT NULL,
	"state" text NOT NULL,
	"state_changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"traits" jsonb NOT NULL,
	"metadata_public" jsonb,
	"metadata_admin" jsonb,
	"recovered_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity"."mail_outbox" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "identity"."mail_outbox_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"recipient" text NOT NULL,
	"subject" text NOT NULL,
	"text" text NOT NULL,
	"html" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"useful_until" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity"."rate_limits" (
	"key" "bytea" PRIMARY KEY NOT NULL,
	"hits" integer NOT NULL,
	"resets_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity"."recovery_addresses" (
	"id" uuid PRIMARY KEY NOT NULL,
	"identity_id" uuid NOT NULL,
	"value" text NOT NULL,
	"via" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "recovery_addresses_via_value_unique" UNIQUE("via","value")
);
--> statement-breakpoint
CREATE TABLE "identity"."security_log" (
	"id" uuid PRIMARY KEY NOT NULL,
	"identity_id" uuid NOT NULL,
	"event" text NOT NULL,
	"details" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"ip_address" text NOT NULL,
	"user_agent" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity"."session_devices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"session_id" uuid NOT NULL,
	"ip_address" text NOT NULL,
	"user_agent" text NOT NULL,
	"location" text DEFAULT '' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity"."sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"identity_id" uuid NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"active" boolean DEFAULT true NOT NULL,
	"aal" text NOT NULL,
	"authentication_methods" jsonb NOT NULL,
	"authenticated_at" timestamp (3) with time zone NOT NULL,
	"issued_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sessions_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "identity"."signing_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"public_key" jsonb NOT NULL,
	"sealed_key" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity"."token_exchanges" (
	"flow_id" uuid PRIMARY KEY NOT NULL,
	"init_code_hash" "bytea" NOT NULL,
	"return_to_code_hash" "bytea" NOT NULL,
	"identity_id" uuid,
	"authentication_methods" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "token_exchanges_init_code_hash_unique" UNIQUE("init_code_hash")
);
--> statement-breakpoint
CREATE TABLE "identity"."verifiable_addresses" (
	"id" uuid PRIMARY KEY NOT NULL,
	"identity_id" uuid NOT NULL,
	"value" text NOT NULL,
	"via" text NOT NULL,
	"verified" boolean DEFAULT false NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"verified_at" timestamp (3) with time zone,
	"assumed" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "verifiable_addresses_via_value_unique" UNIQUE("via","value")
);
--> statement-breakpoint
ALTER TABLE "identity"."codes" ADD CONSTRAINT "codes_flow_id_flows_id_fk" FOREIGN KEY ("flow_id") REFERENCES "identity"."flows"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."codes" ADD CONSTRAINT "codes_address_id_verifiable_addresses_id_fk" FOREIGN KEY ("address_id") REFERENCES "identity"."verifiable_addresses"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."codes" ADD CONSTRAINT "codes_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."credential_identifiers" ADD CONSTRAINT "credential_identifiers_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."credentials" ADD CONSTRAINT "credentials_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."flows" ADD CONSTRAINT "flows_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."recovery_addresses" ADD CONSTRAINT "recovery_addresses_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."security_log" ADD CONSTRAINT "security_log_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."session_devices" ADD CONSTRAINT "session_devices_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "identity"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."sessions" ADD CONSTRAINT "sessions_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."token_exchanges" ADD CONSTRAINT "token_exchanges_flow_id_flows_id_fk" FOREIGN KEY ("flow_id") REFERENCES "identity"."flows"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."token_exchanges" ADD CONSTRAINT "token_exchanges_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."verifiable_addresses" ADD CONSTRAINT "verifiable_addresses_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "codes_flow_id_index" ON "identity"."codes" USING btree ("flow_id");--> statement-breakpoint
CREATE INDEX "codes_address_id_index" ON "identity"."codes" USING btree ("address_id");--> statement-breakpoint
CREATE INDEX "codes_identity_id_index" ON "identity"."codes" USING btree ("identity_id");--> statement-breakpoint
CREATE INDEX "credential_identifiers_identity_id_index" ON "identity"."credential_identifiers" USING btree ("identity_id");--> statement-breakpoint
CREATE INDEX "errors_created_at_index" ON "identity"."errors" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "flows_expires_at_index" ON "identity"."flows" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "flows_identity_id_index" ON "identity"."flows" USING btree ("identity_id");--> statement-breakpoint
CREATE INDEX "mail_outbox_next_attempt_at_index" ON "identity"."mail_outbox" USING btree ("next_attempt_at");--> statement-breakpoint
CREATE INDEX "rate_limits_resets_at_index" ON "identity"."rate_limits" USING btree ("resets_at");--> statement-breakpoint
CREATE INDEX "recovery_addresses_identity_id_index" ON "identity"."recovery_addresses" USING btree ("identity_id");--> statement-breakpoint
CREATE INDEX "security_log_identity_id_id_index" ON "identity"."security_log" USING btree ("identity_id","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "session_devices_session_id_index" ON "identity"."session_devices" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "sessions_identity_id_index" ON "identity"."sessions" USING btree ("identity_id");--> statement-breakpoint
CREATE INDEX "sessions_expires_at_index" ON "identity"."sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "verifiable_addresses_identity_id_index" ON "identity"."verifiable_addresses" USING btree ("identity_id");