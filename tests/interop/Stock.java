// The tasks of a client in Java, unmodified: java -cp JARS Stock.java BASE_URL TOKEN
import com.google.api.client.googleapis.media.MediaHttpUploader;
import com.google.api.client.http.*;
import com.google.api.client.http.javanet.NetHttpTransport;
import com.google.api.client.http.json.JsonHttpContent;
import com.google.api.client.json.gson.GsonFactory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;

public class Stock {
    public static void main(String[] arguments) throws Exception {
        String base = arguments[0];
        HttpRequestInitializer signedIn = request -> {
            request.getHeaders().setAuthorization("Bearer " + arguments[1]);
            if (request.getContent() != null) {
                request.setEncoding(new GZipEncoding());
            }
        };
        HttpRequestFactory requests = new NetHttpTransport().createRequestFactory(signedIn);
        byte[] content = new byte[700_000];
        new Random(1).nextBytes(content);
        JsonHttpContent metadata = new JsonHttpContent(new GsonFactory(), Map.of("name", "Größe.bin"));

        StringBuilder made = new StringBuilder();
        for (boolean direct : new boolean[] {true, false}) {
            AbstractInputStreamContent source = new InputStreamContent("image/png", new ByteArrayInputStream(content))
                    .setLength(content.length);
            MediaHttpUploader uploader = new MediaHttpUploader(source, new NetHttpTransport(), signedIn)
                    .setMetadata(metadata).setDirectUploadEnabled(direct).setChunkSize(256 * 1024);
            HttpResponse response = uploader.upload(new GenericUrl(base + "/upload/drive/v3/files"
                    + (direct ? "?uploadType=multipart&fields=id" : "?uploadType=resumable&fields=id")));
            String id = response.parseAsString().replaceAll("(?s).*\"id\": \"([^\"]+)\".*", "$1");
            ByteArrayOutputStream downloaded = new ByteArrayOutputStream();
            requests.buildGetRequest(new GenericUrl(base + "/drive/v3/files/" + id + "?alt=media")).execute()
                    .download(downloaded);
            made.append(Arrays.equals(downloaded.toByteArray(), content)).append(",");
            requests.buildDeleteRequest(new GenericUrl(base + "/drive/v3/files/" + id)).execute().disconnect();
        }
        HttpContent event = new JsonHttpContent(new GsonFactory(), Map.of("summary", "Lunch",
                "start", Map.of("date", "2026-11-05"), "end", Map.of("date", "2026-11-06")));
        int status = requests.buildPostRequest(new GenericUrl(base + "/calendar/v3/calendars/primary/events"), event)
                .execute().getStatusCode();
        System.out.println("[" + made + status + "]");
    }
}
