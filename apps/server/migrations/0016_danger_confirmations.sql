CREATE TABLE "crux"."danger_confirmation" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"deployment_id" uuid NOT NULL,
	"instance_id" uuid NOT NULL,
	"hash" text NOT NULL,
	"subject" jsonb NOT NULL,
	"confirmed_by_id" text NOT NULL,
	"confirmed_by_name" text NOT NULL,
	"confirmed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "crux"."danger_confirmation" ADD CONSTRAINT "danger_confirmation_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "danger_confirmation_instance" ON "crux"."danger_confirmation" USING btree ("deployment_id","instance_id");